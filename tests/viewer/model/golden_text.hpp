// Golden texts: compares a result with a file below golden/. If $REPRISE_UPDATE_GOLDEN is set,
// writes the file instead; review the difference before committing it. Threads: one.
#pragma once

#include <string>

namespace reprise::test {

// The contents of golden/`name`; a failed check if the file does not exist.
[[nodiscard]] std::string golden_text(const std::string& name, const std::string& actual);

}  // namespace reprise::test
