// RankAnalysis: who arrived last at the collectives of a merged trace, how long the others waited
// (collective_waits.hpp), and which communication was exposed. Complexity: O(n log n) for n
// executions on all ranks. Threads: values and pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/document.hpp"
#include "model/rank_clocks.hpp"

namespace reprise::model {

// Summary of durations, ns; 0 without any. median and p99: nearest rank.
struct DurationSummary {
  std::uint64_t count = 0;
  trace::Time median = 0, p99 = 0, max = 0;
  double total = 0;
};

// Part of trace::CollectiveKey that all executions of a collective share.
struct CollectiveId {
  std::uint64_t communicator = 0, number = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const CollectiveId&, const CollectiveId&) = default;
};

// A rank in the executions of one collective.
struct CollectiveRank {
  std::uint32_t session = 0;
  GraphKey graph;
  std::uint32_t collective = 0;      // index in the collectives of the graph
  std::uint64_t last = 0;            // executions in which others waited for this rank
  std::uint64_t certainly_last = 0;  // those for which the clocks prove it
  DurationSummary wait = {};         // for other ranks
  double caused = 0;                 // waiting of the others for this rank, ns
};

// Executions are those with times of at least two ranks.
struct CollectiveSummary {
  CollectiveId id;
  trace::CollectiveKind kind = trace::CollectiveKind::Group;
  std::uint32_t node = 0;             // on the first rank
  std::string name, graph;            // of the node and its graph
  std::vector<CollectiveRank> ranks;  // by session
  std::uint64_t executions = 0;
  std::uint64_t incomplete = 0;  // lack the times of a rank; its arrival may have been later
  DurationSummary wait;          // of each execution: mean over its ranks
  DurationSummary transfer;      // of each execution: median over its ranks of the time not waited
  std::uint32_t last = trace::kNone;  // index in `ranks`: for whom the others waited most, in total
  [[nodiscard]] bool has_waits() const noexcept { return wait.count != 0; }
  // Whether `last` is the last one in at least half of the executions.
  [[nodiscard]] bool has_late_rank() const noexcept {
    return last != trace::kNone && ranks[last].last * 2 >= executions;
  }
};

struct RankSummary {
  std::uint64_t replays = 0;           // sampled ones of graphs with collectives
  double exposed = 0, overlapped = 0;  // communication in all replays, ns
  DurationSummary exposed_per_replay, overlapped_per_replay;
  std::uint64_t executions = 0;  // in which ranks wait for others
  std::uint64_t last = 0, certainly_last = 0;
  double waited = 0, caused = 0;  // ns
};

struct RankAnalysis {
  std::vector<RankSummary> ranks;      // by session
  std::uint32_t worst = trace::kNone;  // session for which others waited most; kNone: for none
  std::vector<CollectiveSummary> collectives;  // by total waiting, longest first
  trace::Time max_error = 0;                   // see RankClocks::max_bound()
  std::uint32_t reference = 0;                 // session whose clock the times are on
};

[[nodiscard]] RankAnalysis rank_analysis(const Document& document);

// One rank in one execution.
struct Arrival {
  std::uint32_t rank = 0;  // index in CollectiveSummary::ranks
  trace::Time started = 0, ended = 0;
  trace::Time wait = -1;  // part of it; -1: no statement
};

struct CollectiveExecution {
  std::uint64_t replay = 0;
  std::uint32_t occurrence = 0;
  std::uint32_t first = 0, count = 0;  // arrivals
  std::uint32_t last = trace::kNone;   // rank that others waited for; as in Arrival
  // The clocks prove that a rank waited for `last`, and that it came after all that were awaited.
  bool is_certain = false;
  trace::Time spread = 0;                // from the first start to the last
  trace::Time lateness = 0;              // start of `last` minus the median start of the others
  trace::Time wait = -1, transfer = -1;  // as in CollectiveSummary; -1: no statement
};

struct CollectiveExecutions {
  std::vector<CollectiveExecution> executions;  // by replay and occurrence
  std::vector<Arrival> arrivals;                // by execution and rank
};

// `collective` is of this document's analysis, or of an earlier publication's.
[[nodiscard]] CollectiveExecutions executions_of(const Document& document,
                                                 const CollectiveSummary& collective);

}  // namespace reprise::model
