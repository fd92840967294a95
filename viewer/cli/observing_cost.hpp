// The cost of observing a program: pairs of runs of it, alone and observed, compared by the time
// from launch to launch of its graphs. Threads: the main thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/child_process.hpp"

namespace reprise::cli {

// The library that records the launches of a program in both kinds of runs; see launch_clock.cpp.
inline constexpr char kLaunchClock[] = "libreprise_launch_clock.so";

// The launches of one run in all its processes.
struct LaunchTimes {
  std::uint64_t launches = 0;
  // From launch to launch, after the first tenth. Without pauses in which the program did something
  // else: outside of waits, and far longer than it usually takes to the next launch or wait.
  double ns = 0;
};
// Reads the files of the launch clock in `folder`. Throws std::runtime_error with the name of the
// file if one is damaged.
[[nodiscard]] LaunchTimes launch_times(const std::filesystem::path& folder);

// Relative to the program alone: 0.1 is a tenth slower.
struct ObservingCost {
  double median = 0, least = 0, most = 0;  // of the pairs
  double alone = 0, observed = 0;          // medians, ns from launch to launch
};
// The cost by pairs of runs, alone and observed; at least one.
struct RunPair {
  LaunchTimes alone, observed;
};
[[nodiscard]] ObservingCost cost_of(const std::vector<RunPair>& pairs);
[[nodiscard]] std::string cost_text(const ObservingCost& cost, std::size_t pairs);

// Runs the program alone and observed in turn, `pairs` times, without its output. `observed` makes
// the second from the path of its trace, which is removed. Throws std::runtime_error if a run fails
// or launches too few graphs.
using ObservedProcess = std::function<ChildProcess(const std::filesystem::path& trace)>;
[[nodiscard]] ObservingCost measure_cost(const ChildProcess& alone, const ObservedProcess& observed,
                                         const std::filesystem::path& clock, std::size_t pairs);

}  // namespace reprise::cli
