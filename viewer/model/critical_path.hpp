// Determines which nodes bound the duration of a replay. From durations (for instance medians): the
// longest path through the graph and the slack of every node. From measurements: the chain of nodes
// of one replay, found backwards from the node that ended last by following the predecessor that
// ended last. Time: linear in nodes and edges. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.hpp"
#include "model/replay_times.hpp"

namespace reprise::model {

// Longest paths through a graph whose nodes take `durations` (non-negative). Nodes of bodies are
// included in the time of the node that runs the body; their own entries are 0.
struct LongestPaths {
  std::vector<double> until;  // longest path that ends with this node, inclusive
  std::vector<double> from;   // longest path that starts with this node, inclusive
  double length = 0;          // of the longest path overall

  // How much longer the node could take without lengthening the longest path.
  [[nodiscard]] double slack(std::uint32_t node, const std::vector<double>& durations) const {
    return length - (until[node] + from[node] - durations[node]);
  }
};

[[nodiscard]] LongestPaths longest_paths(const Graph& graph, const std::vector<double>& durations);

struct PathStep {
  std::uint32_t node = 0;
  std::uint32_t edge = trace::kNone;  // from the previous step; kNone for the first
  double duration = 0;                // ns
  // ns since the end of the previous step or the start of the replay; negative if they overlapped
  double wait = 0;
};

struct CriticalPath {
  std::vector<PathStep> steps;
  double work = 0, wait = 0;  // ns, totals of the steps
};

// A longest path; among equals, the one with smaller node numbers. All waits are 0.
[[nodiscard]] CriticalPath critical_path(const Graph& graph, const std::vector<double>& durations);
// The critical path of one replay. work + wait is the replay's duration.
[[nodiscard]] CriticalPath critical_path(const Graph& graph, const ReplayTimes& times);

}  // namespace reprise::model
