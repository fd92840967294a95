// CostProfile: execution times of commands that an earlier run measured, for CompileDesc::costs.
// Must not depend on a device. Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

struct CommandCost {
  std::uint32_t command = 0;  // index in the command buffer
  std::string label = {};     // label path: "forward/layer 1"
  std::string name = {};      // kernel of a dispatch; name of another command, "copy x -> y"
  std::uint64_t work = 0;     // threads of a dispatch; bytes of a copy, fill or update
  // Time in one replay: of a command in a loop, the sum of all iterations. Without the time of the
  // measurement itself. Median over replays.
  std::chrono::duration<double, std::micro> time{0};
};

// A graph of the trace whose nodes were timed.
struct GraphCosts {
  // The source of the times. HostClock and Profiler (CUPTI) have the precision of the device;
  // Timestamps overestimate short kernels that ran beside others.
  enum class TimedBy : std::uint8_t {
    HostClock,
    Timestamps,
    Profiler
  } timed_by = TimedBy::HostClock;
  std::string label = {};
  std::string device = {};  // DeviceInfo::name
  std::uint64_t plan_hash = 0;
  std::uint32_t replays = 0;               // in the medians: the most recent of the trace
  std::vector<CommandCost> commands = {};  // in increasing order of `command`, each at most once
};
[[nodiscard]] REPRISE_API std::string_view to_string(GraphCosts::TimedBy timed_by) noexcept;

struct CostProfile {
  std::string source = {};  // path of the file
  // In the order of the trace. A graph that was updated or tuned appears once for each version.
  std::vector<GraphCosts> graphs = {};
  std::vector<std::string> untimed = {};  // labels of graphs without times of nodes
};

// Reads a trace with times of nodes (ProfileMode::Sampled or Every), or a file of
// save_cost_profile(). Throws InvalidArgument with the path if the file is neither, is damaged, or
// has no times of nodes; NativeFailure if it cannot be read.
[[nodiscard]] REPRISE_API std::shared_ptr<const CostProfile> load_cost_profile(
    const std::filesystem::path& file);

// Writes a small JSON file, atomically, as `reprise costs TRACE -o FILE` does. Throws
// NativeFailure.
REPRISE_API void save_cost_profile(const CostProfile& profile, const std::filesystem::path& path);

// The costs that a compile used.
struct CostsReport {
  // Source of measured costs: "run.reprise: 40 replays of graph step on host, timed by ...". Empty:
  // none were used.
  std::string source;
  std::uint32_t measured = 0;  // commands with a measured cost
  std::uint32_t hinted = 0;    // other commands with DispatchDesc::cost
  std::uint32_t guessed = 0;   // other commands, which get the median of the others
  std::optional<std::uint32_t> first_guessed = {};  // index of the first of these
  std::string device;                               // name of the device that was measured
  bool same_recording = false;                      // the trace has a graph with the same plan hash
  bool used = false;                                // the lowering is cost-based
};

}  // namespace reprise::inline REPRISE_ABI
