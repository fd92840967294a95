// Golden texts: what a file below golden/ says, beside what it should say by now. With
// $REPRISE_UPDATE_GOLDEN set, the file is written anew: look at the difference before it is
// committed. Threads: one.
#pragma once

#include <string>

namespace reprise::test {

// What golden/`name` holds; a failed check where there is no such file.
[[nodiscard]] std::string golden_text(const std::string& name, const std::string& actual);

}  // namespace reprise::test
