// Gaps between nodes of one replay, and their medians over many. The gap at an edge lies between
// the end of the earlier node and the start of the later one; the gap before a node between
// ready_at() and its start. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/replay_times.hpp"
#include "model/sample_store.hpp"

namespace reprise::model {

struct EdgeGap {
  trace::Time time = 0;    // ns; negative: the nodes overlap
  bool is_known = false;   // both nodes have samples
  bool is_latest = false;  // no other predecessor of the later node ended later
};
// One per edge.
[[nodiscard]] std::vector<EdgeGap> edge_gaps(const Graph& graph, const ReplayTimes& times);

struct MedianGap {
  double time = 0;          // ns; 0 without samples
  std::uint32_t count = 0;  // samples
};
struct MedianGaps {
  // One per edge, over the replays in which the edge is known and latest: it released the node.
  std::vector<MedianGap> edges;
  std::vector<MedianGap> nodes;  // the gap before each of the graph's own nodes; 0 for others
};
[[nodiscard]] MedianGaps median_gaps(const Graph& graph,
                                     const std::vector<SampleStore::Block>& blocks);

// The number of replays to read for median_gaps(): fewer for large graphs, to bound its memory.
[[nodiscard]] std::size_t gap_replays(const Graph& graph);

}  // namespace reprise::model
