// Where the libraries that come with the program `reprise` are. Threads: any.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace reprise::cli {

// This program's own file. Throws std::runtime_error.
[[nodiscard]] std::filesystem::path this_program();

// Where a library with this name may be: bin/reprise of a build or an installation, with lib, lib64
// or lib/<architecture> beside bin.
[[nodiscard]] std::vector<std::filesystem::path> library_places(
    const std::filesystem::path& program, std::string_view name);

}  // namespace reprise::cli
