// Cost profiles as JSON files that people can read and keep beside a program instead of a trace.
// Threads: pure functions of a file.
#pragma once

#include <filesystem>

#include <reprise/cost_profile.hpp>

namespace reprise::detail {

// Decides by the first byte; false for a file that cannot be read.
[[nodiscard]] bool is_cost_profile_file(const std::filesystem::path& path);
// Throws InvalidArgument naming the path and the problem: a missing file, a later version, ...
[[nodiscard]] CostProfile read_cost_profile_file(const std::filesystem::path& path);

}  // namespace reprise::detail
