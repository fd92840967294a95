// Test files: in the source tree, or next to a relocated test program. Threads: any.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::test {

// The path of a file below tests/, such as "golden/saxpy.txt". The file need not exist.
[[nodiscard]] std::filesystem::path test_file(std::string_view path);

// The bytes of a file; empty if it cannot be read.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& path);

// An empty folder of this process, removed at normal exit.
[[nodiscard]] const std::filesystem::path& scratch_folder();

}  // namespace reprise::test
