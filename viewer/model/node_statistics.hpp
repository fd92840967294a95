// The times of a graph's nodes over many replays, and the figures that views and commands show of
// them. There is one definition of each figure, here. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/duration_histogram.hpp"
#include "model/graph.hpp"
#include "model/sample_sources.hpp"

namespace reprise::model {

struct NodeStatistics {
  detail::DurationHistogram times;
  std::uint64_t lost = 0;  // samples without a time
};

struct GraphStatistics {
  std::vector<NodeStatistics> nodes;  // one for each node of the graph
  // ns, over the graph's own nodes, whose times include those of their bodies
  std::int64_t sum = 0;
  std::uint64_t replays = 0;  // with samples
  std::uint64_t samples = 0;  // with a time
  std::uint64_t unknown = 0;  // samples of nodes that the version does not have
  SampleSources sources;      // of the sampled replays

  explicit GraphStatistics(std::uint32_t node_count = 0) : nodes(node_count) {}
  void add(const Graph& graph, const trace::SampleBlock& block);
  [[nodiscard]] std::uint64_t lost() const;           // of all nodes
  [[nodiscard]] std::vector<double> medians() const;  // ns per node; 0 without samples
};

struct NodeFigures {
  std::uint64_t count = 0, lost = 0;  // samples with and without a time
  // ns; 0 without samples. Percentiles are off by at most DurationHistogram::kRelativeError.
  double median = 0, p10 = 0, p90 = 0, p99 = 0, mean = 0, min = 0, max = 0;
  double total = 0;  // ns, over all samples
  double share = 0;  // see node_shares()
};
// By node.
[[nodiscard]] std::vector<NodeFigures> node_figures(const Graph& graph,
                                                    const GraphStatistics& statistics);

}  // namespace reprise::model
