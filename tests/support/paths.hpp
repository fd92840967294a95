// Where a test's files are: in the source tree, or beside a test program that was moved to another
// machine.
#pragma once

#include <filesystem>
#include <string_view>

namespace reprise::test {

/// A file below tests/, such as "golden/saxpy.txt", wherever this program runs. It need not exist.
[[nodiscard]] std::filesystem::path test_file(std::string_view path);

/// A new empty folder for this process, removed when the process ends normally.
[[nodiscard]] const std::filesystem::path& scratch_folder();

}  // namespace reprise::test
