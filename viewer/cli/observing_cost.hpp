// The cost of observing a program: pairs of runs of it, alone and observed, compared by the time
// from launch to launch of its graphs. Threads: the main thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "cli/child_process.hpp"

namespace reprise::cli {

// Runs the program alone and observed in turn, `pairs` times, without its output, and returns the
// result as a text. `observed` makes the second from the path of its trace, which is removed.
// `interposer`: the library that records the launches in both.
// Throws std::runtime_error if a run fails or launches too few graphs.
using ObservedProcess = std::function<ChildProcess(const std::filesystem::path& trace)>;
[[nodiscard]] std::string measure_cost(const ChildProcess& alone, const ObservedProcess& observed,
                                       const std::filesystem::path& interposer, std::size_t pairs);

}  // namespace reprise::cli
