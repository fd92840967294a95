// Costs as a file of their own: what save_cost_profile() wrote, JSON that people can read and keep
// beside a program, in the place of a trace. Threads: pure functions of a file.
#pragma once

#include <filesystem>

#include <reprise/cost_profile.hpp>

namespace reprise::detail {

// By its first byte; false too where it can't be read.
[[nodiscard]] bool is_cost_profile_file(const std::filesystem::path& path);
// Throws InvalidArgument naming the path and what is wrong: no such file, one of a later version.
[[nodiscard]] CostProfile read_cost_profile_file(const std::filesystem::path& path);

}  // namespace reprise::detail
