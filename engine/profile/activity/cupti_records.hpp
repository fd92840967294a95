// What CUPTI's activity records say of the nodes of graphs, whatever kind of record a node left: a
// memset may run as a kernel. Knows no device: reads records that are in memory. Threads: pure
// functions.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace reprise::detail {

// One run of one node.
struct NodeRecord {
  std::uint64_t node = 0;  // CUPTI's id of the node of the executable
  std::uint64_t started = 0,
                ended = 0;  // ns of the clock that CUPTI was given; 0 and 0: the times were lost
  std::uint32_t correlation = 0, stream = 0;  // of the launch; CUPTI's number of where it ran
  const char* kernel =
      nullptr;  // its name as the binary has it, as long as the record is there; null: it is none
};

// Empty for a record of something else than a graph's node.
[[nodiscard]] std::optional<NodeRecord> node_record(const CUpti_Activity& record);

// One run of one node of a twin, by its place in the lowered graph.
struct NodeRun {
  static constexpr std::uint32_t kBegin = 0xfffffffe,
                                 kEnd = 0xffffffff;  // the stamps around everything
  std::uint32_t node = 0;
  std::int64_t started = 0, ended = 0;
};

// What one twin left, cut into replays, which come in the order that they were launched in.
// Threads: one at a time.
class ReplayRuns {
 public:
  enum class More : std::uint8_t { ToCome, NotToCome };
  // A replay that is looked for: where records were lost, whole replays may be missing, and only
  // its time tells which one it is.
  struct Wanted {
    std::int64_t began = 0;
    std::int64_t tolerance = 0;  // by which `began` may be off; ns
    More more = More::ToCome;
    std::size_t besides = 0;  // runs of this replay beside those that every one leaves
  };

  // `expected`: the runs that a replay leaves if nothing is lost, its two stamps included.
  explicit ReplayRuns(std::size_t expected) : expected_(expected) {}

  void add(const NodeRun& run);
  // From here on replays are told apart by their times.
  void note_lost() noexcept { broken_ = true; }

  // The runs of the replay after the one taken last, by their start; empty where they are lost,
  // nullopt where they are not all there yet. Those of earlier ones are forgotten.
  [[nodiscard]] std::optional<std::vector<NodeRun>> take(const Wanted& wanted);

 private:
  using Runs = std::vector<NodeRun>;
  [[nodiscard]] Runs::iterator find(const Wanted& wanted);

  std::size_t expected_;
  Runs runs_;
  bool sorted_ = true, broken_ = false;
};

}  // namespace reprise::detail
