// ReplayTimes: when each node of one replay began and ended, one span a node however often it ran.
// A node without a sample, or whose time was lost, took no time at the moment its last predecessor
// ended: so every analysis has a time for every node. Threads: values and pure functions.
#pragma once

#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

struct NodeSpan {
  trace::Time started = 0, ended = 0;
  bool measured = false;
  trace::Time taken =
      0;  // of a node in a body by all of its runs; of the others from the first to the last
};

struct ReplayTimes {
  std::vector<NodeSpan> nodes;
  trace::Time began = 0, ended = 0;  // of all measured nodes; 0, 0: none
};

[[nodiscard]] ReplayTimes replay_times(const Graph& graph, const trace::SampleBlock& block);
// The time that each node took, in ns.
[[nodiscard]] std::vector<double> durations(const ReplayTimes& times);

}  // namespace reprise::model
