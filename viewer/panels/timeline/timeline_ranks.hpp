// TimelineRanks: which threads, devices, queues and graphs of a timeline belong to which rank. A
// trace of one process has one entry without a name. Performs no drawing. Threads: immutable
// values; pure functions for the background.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/activity.hpp"
#include "model/matching_graphs.hpp"
#include "model/rank_clocks.hpp"
#include "panels/timeline/timeline_host.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kMaxShownRanks = 16;  // ranks with rows of their own by default

struct TimelineRank {
  std::uint32_t session = 0;
  std::string name, process;                    // "rank 3"; "node7, process 4711"
  std::vector<std::uint32_t> threads, devices;  // ascending
  std::vector<std::uint32_t> queues;            // with replays, ascending
  std::vector<model::GraphKey> graphs;          // replayed ones, and the shown graph
  model::GraphKey match;                        // runs the collectives of the shown graph
  bool has_match = false;
  bool is_shown = true;  // false: folded with the others
};

struct TimelineRanks {
  std::vector<TimelineRank> ranks;          // by rank
  std::vector<model::RankGraph> matches;    // of the shown graph; by rank
  std::optional<model::RankClocks> clocks;  // empty: the trace has one process
  std::size_t shown = 0;                    // number of ranks that are not folded
  std::uint64_t revision = 0;               // of the document
  [[nodiscard]] bool has_ranks() const noexcept { return clocks.has_value(); }
};
[[nodiscard]] TimelineRanks make_timeline_ranks(const model::Document& document,
                                                model::GraphKey shown,
                                                const model::Activity& activity,
                                                const HostRows& host);

// One replay on all ranks.
struct RankReplay {
  std::uint64_t replay = 0;
  model::AwaitedArrivals arrivals;
  trace::Time started = 0, ended = 0;  // over all ranks; 0: unknown
};
[[nodiscard]] RankReplay make_rank_replay(const model::Document& document,
                                          const TimelineRanks& ranks, std::uint64_t replay);

}  // namespace reprise::viewer
