// TraceDiff: what changed between two traces. Graphs match by name, each in its newest version that
// has samples (or its newest, if none has); nodes match as match_nodes() says. The nodes that have
// samples in both traces are looked at together (is_significant), replays alone. Includes
// engine/trace alone. Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "model/significance.hpp"
#include "model/trace_summary.hpp"

namespace reprise::model {

// Two sets of durations that belong together.
struct Change {
  std::uint64_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0;  // ns
  double part = 0;                    // of median_a; 0 where that is 0
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
  bool same_plan = false;         // by the plans' hashes
  Change device_time, launch;     // of replays
  std::vector<NodeChange> nodes;  // by the size of the change of the median, largest first
  std::vector<std::string> added, removed;  // nodes in b or a alone: "label path / name"
};

struct TraceDiff {
  std::vector<GraphDiff> graphs;
  std::vector<std::string> only_a, only_b;  // graphs
};

[[nodiscard]] TraceDiff diff(const TraceSummary& a, const TraceSummary& b);

}  // namespace reprise::model
