// Locates the libraries installed with `reprise`. Threads: any.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace reprise::model {

// The executable of this process. Throws std::runtime_error.
[[nodiscard]] std::filesystem::path this_program();

// Candidate paths of a library: bin/reprise of a build or an installation, with lib, lib64 or
// lib/<architecture> as siblings of bin.
[[nodiscard]] std::vector<std::filesystem::path> library_candidates(
    const std::filesystem::path& program, std::string_view name);

}  // namespace reprise::model
