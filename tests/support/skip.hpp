// Skips the running test case, for a test that cannot run on this machine. A program whose test cases are all skipped exits
// with 77, which CTest reports as skipped. Threads: the thread that runs the tests.
#pragma once

#include <string_view>

namespace reprise::test {

// Marks the running test case as skipped and prints `reason`; the caller returns from the test case.
void skip_test_case(std::string_view reason);

}  // namespace reprise::test
