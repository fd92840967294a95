// Extracts node executions from CUPTI's activity records. The kind of a record may differ
// from the kind of its node: a memset may run as a kernel. Reads only records in memory; uses no
// device. Threads: pure functions.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace reprise::detail {

// One execution of one node.
struct NodeRecord {
  std::uint64_t node = 0;  // CUPTI's id of the node in the executable
  std::uint64_t started = 0,
                ended = 0;  // ns on the clock registered with CUPTI; both 0: unknown
  std::uint32_t correlation = 0, stream = 0;  // correlation id of the launch; CUPTI's stream id
  const char* kernel = nullptr;  // mangled kernel name, owned by the record; null: not a kernel
};

// Empty if the record does not belong to a graph node.
[[nodiscard]] std::optional<NodeRecord> node_record(const CUpti_Activity& record);

// One execution of one node of a profiling clone; `node` is its index in the lowered graph.
struct NodeRun {
  static constexpr std::uint32_t
      kBegin = 0xfffffffe,
      kEnd = 0xffffffff;  // the timestamp kernels at the boundaries of a replay
  std::uint32_t node = 0;
  std::int64_t started = 0, ended = 0;
};

// Splits the records of one profiling clone into replays in launch order. Threads: one at a time.
class ReplayRuns {
 public:
  enum class More : std::uint8_t { Expected, NoneExpected };
  // The replay to extract. After lost records, whole replays may be missing; then `started`
  // identifies the replay.
  struct Wanted {
    std::int64_t started = 0;
    std::int64_t tolerance = 0;  // maximum error of `started`, ns
    More more = More::Expected;
    // Executions in this replay beyond the constant number per replay, for example of loop
    // iterations.
    std::size_t besides = 0;
  };

  // `expected`: executions per replay without losses, including its two boundary timestamps.
  explicit ReplayRuns(std::size_t expected) : expected_(expected) {}

  void add(const NodeRun& run);
  // From now on, replays are matched by time.
  void mark_lost() noexcept { broken_ = true; }

  // The executions of the next replay, sorted by start. Empty: lost. nullopt: not complete yet.
  // Discards the executions of earlier replays.
  [[nodiscard]] std::optional<std::vector<NodeRun>> take(const Wanted& wanted);

 private:
  using Runs = std::vector<NodeRun>;
  [[nodiscard]] Runs::iterator find(const Wanted& wanted);

  std::size_t expected_;
  Runs runs_;
  bool sorted_ = true, broken_ = false;
};

}  // namespace reprise::detail
