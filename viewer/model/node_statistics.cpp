#include "model/node_statistics.hpp"

#include <numeric>

#include "model/node_shares.hpp"

namespace reprise::model {

void GraphStatistics::add(const Graph& graph, const trace::SampleBlock& block) {
  ++replays;
  sources.add(block.replay, block.source);
  for (const trace::Sample& sample : block.samples) {
    if (sample.node >= nodes.size()) {
      ++unknown;
    } else if (sample.started == 0) {
      ++nodes[sample.node].lost;
    } else {
      nodes[sample.node].times.add(sample.duration);
      if (sample.node < graph.own_node_count()) sum += sample.duration;
      ++samples;
    }
  }
}

std::uint64_t GraphStatistics::lost() const {
  return std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0},
                         [](std::uint64_t n, const NodeStatistics& node) { return n + node.lost; });
}

std::vector<double> GraphStatistics::medians() const {
  std::vector<double> medians(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) medians[i] = nodes[i].times.quantile(0.5);
  return medians;
}

std::vector<NodeFigures> node_figures(const Graph& graph, const GraphStatistics& statistics) {
  std::vector<NodeFigures> figures(statistics.nodes.size());
  std::vector<double> totals(figures.size());
  for (std::size_t n = 0; n < figures.size(); ++n) {
    const detail::DurationHistogram& times = statistics.nodes[n].times;
    NodeFigures& f = figures[n];
    f.count = times.count();
    f.lost = statistics.nodes[n].lost;
    if (f.count == 0) continue;
    f.median = times.quantile(0.5);
    f.p10 = times.quantile(0.1);
    f.p90 = times.quantile(0.9);
    f.p99 = times.quantile(0.99);
    f.mean = times.mean();
    f.min = static_cast<double>(times.min());
    f.max = static_cast<double>(times.max());
    f.total = totals[n] = static_cast<double>(times.sum());
  }
  const std::vector<double> shares =
      node_shares(totals, [&](std::uint32_t n) { return graph.parent(n); });
  for (std::size_t n = 0; n < figures.size(); ++n) figures[n].share = shares[n];
  return figures;
}

}  // namespace reprise::model
