// ReplayTimes: the start and end of each node in one replay, one span per node even if it ran
// several times. A node without a measured time gets an empty span at the end of its last
// predecessor, so every analysis has a time for every node. Threads: values and pure functions.
#pragma once

#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

struct NodeSpan {
  trace::Time started = 0, ended = 0;
  bool measured = false;
  // total over all runs for nodes of bodies; otherwise ended - started
  trace::Time taken = 0;
};

struct ReplayTimes {
  std::vector<NodeSpan> nodes;
  trace::Time started = 0, ended = 0;  // over all measured nodes; 0, 0 if there are none
};

[[nodiscard]] ReplayTimes replay_times(const Graph& graph, const trace::SampleBlock& block);
// When the last predecessor of one of the graph's own nodes ended; the start of the replay if it
// has no predecessor.
[[nodiscard]] trace::Time ready_at(const Graph& graph, const ReplayTimes& times,
                                   std::uint32_t node);
// The busy time of each node, in ns.
[[nodiscard]] std::vector<double> durations(const ReplayTimes& times);

}  // namespace reprise::model
