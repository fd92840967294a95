// Costs of commands as an earlier run's trace tells them, for CompileDesc::costs. Knows no device.
// Threads: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace reprise {

struct CommandCost {
  std::uint32_t command = 0;  // index in the command buffer
  std::string label = {};     // label path: "forward/layer 1"
  std::string name =
      {};  // a dispatch's kernel; of another command what it is called: "copy x -> y"
  std::uint64_t work = 0;  // threads of a dispatch, bytes of a copy, fill or update
  // Of its time in one replay, all rounds of a loop together; without what noting the time took.
  // Median over replays.
  double microseconds = 0;
};

// One graph of the trace whose nodes were timed.
struct GraphCosts {
  // What told the times. Profiler and HostClock are as exact as the device; stamps tell short
  // kernels that ran beside others as longer than they are.
  enum class TimedBy : std::uint8_t {
    HostClock,
    Timestamps,
    Profiler
  } timed_by = TimedBy::HostClock;
  std::string label = {};
  std::string device = {};  // its name
  std::uint64_t plan_hash = 0;
  std::uint32_t replays = 0;               // that the medians are of, the newest of the trace
  std::vector<CommandCost> commands = {};  // by command; each at most once
};

struct CostProfile {
  std::string source = {};  // the file that they were read from
  std::vector<GraphCosts> graphs =
      {};  // a graph that was updated or tuned has as many as it was; in the order of the trace
  std::vector<std::string> untimed = {};  // labels of graphs without times of nodes
};

// Costs from a trace that Reprise wrote with times of nodes: ProfileMode::Sampled or Every; or from
// what write_costs() wrote. Reads all of the file, of which it keeps the medians. Throws
// InvalidArgument naming the path where it is neither, is damaged, or tells no times of nodes;
// NativeFailure where it can't be read.
[[nodiscard]] std::shared_ptr<const CostProfile> load_cost_profile(
    const std::filesystem::path& file);

// As a small file that people can read and keep beside a program, whole or not at all; `reprise
// costs TRACE -o FILE` does the same. Throws NativeFailure.
void write_costs(const std::filesystem::path& path, const CostProfile& costs);

// What a compile made of costs.
struct CostsReport {
  std::string source;  // where measured ones came from: "run.reprise: 40 replays of graph step,
                       // timed by stamps"; empty: none were
  std::uint32_t measured = 0;  // commands whose cost was measured
  std::uint32_t hinted = 0;    // whose cost is that of their dispatch, since none was measured
  std::uint32_t guessed = 0;   // neither: the median of the others was taken
  std::uint32_t first_guessed = 0xffffffffu;  // the first of these, in the command buffer
  std::string device;                         // that they were measured on
  bool same_recording = false;                // the trace has a graph with this very plan
  bool used = false;  // the graph is lowered by costs; else nothing was gained by them, or Lowering
                      // did not ask
};

}  // namespace reprise
