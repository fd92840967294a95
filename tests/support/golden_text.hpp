// Golden texts: expected results in files below tests/. REPRISE_UPDATE_GOLDEN=1 writes the files
// instead; review the difference before committing it. Threads: one.
#pragma once

#include <string>
#include <string_view>

namespace reprise::test {

// The contents of a file below tests/; a failed check if it does not exist.
[[nodiscard]] std::string golden_text(std::string_view file, const std::string& actual);

}  // namespace reprise::test
