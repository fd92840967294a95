// What decides how long a replay takes. By durations (medians, say): the longest way through the
// graph and the slack of each node beside it. Measured: the chain of nodes of one replay, each with
// the predecessor that ended last, back from the node that ended last. Linear in nodes and edges.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.hpp"
#include "model/replay_times.hpp"

namespace reprise::model {

// The longest ways through a graph whose nodes take `durations`, none below 0. What a node runs is
// in that node's time: it is on no way, and has 0 and 0 below.
struct LongestPaths {
  std::vector<double> until;  // to the end of a node, itself included
  std::vector<double> from;   // from the start of a node, itself included
  double length = 0;          // of the longest of all

  // How much longer a node could take without making the longest way longer.
  [[nodiscard]] double slack(std::uint32_t node, const std::vector<double>& durations) const {
    return length - (until[node] + from[node] - durations[node]);
  }
};

[[nodiscard]] LongestPaths longest_paths(const Graph& graph, const std::vector<double>& durations);

struct PathStep {
  std::uint32_t node = 0;
  std::uint32_t edge = trace::kNone;  // from the step before; kNone: the first
  double duration = 0;                // ns
  double wait = 0;  // ns from the end of the step before, or from the replay's begin; below 0: they
                    // overlapped
};

struct CriticalPath {
  std::vector<PathStep> steps;
  double work = 0, wait = 0;  // ns, of its steps
};

// One longest way; where several are as long, smaller nodes. No step waits.
[[nodiscard]] CriticalPath critical_path(const Graph& graph, const std::vector<double>& durations);
// Of one replay. work + wait is the time from its begin to its end.
[[nodiscard]] CriticalPath critical_path(const Graph& graph, const ReplayTimes& times);

}  // namespace reprise::model
