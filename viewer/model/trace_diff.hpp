// TraceDiff: the differences between two traces. Graphs match by name; each side contributes its
// newest version with samples, or its newest version if no version has any. Nodes match as in
// match_nodes(). The significance test treats the nodes sampled in both traces as one family of
// comparisons; replay comparisons are independent of them. Depends only on engine/trace. Threads:
// pure functions.
#pragma once

#include <string>
#include <vector>

#include "model/significance.hpp"
#include "model/trace_summary.hpp"

namespace reprise::model {

// The comparison of two corresponding sets of durations.
struct Change {
  std::uint64_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0;  // ns
  double relative = 0;                // relative to median_a; 0 if median_a is 0
  Comparison comparison;
  bool is_significant = false;
};

struct NodeChange {
  std::uint32_t node_a = 0, node_b = 0;
  std::string name, label_path;
  Change time;
};

struct GraphDiff {
  std::string name;
  std::uint32_t graph_a = 0, version_a = 0, graph_b = 0, version_b = 0;
  bool same_plan = false;                           // equal plan hashes
  Change device_time, launch_call, launch_latency;  // of replays
  std::vector<NodeChange> nodes;            // by absolute change of the median, largest first
  std::vector<std::string> added, removed;  // nodes only in b, or only in a: "label path / name"
};

struct TraceDiff {
  std::vector<GraphDiff> graphs;
  std::vector<std::string> only_a, only_b;  // names of graphs
};

[[nodiscard]] TraceDiff diff(const TraceSummary& a, const TraceSummary& b);

}  // namespace reprise::model
