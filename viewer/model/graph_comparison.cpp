#include "model/graph_comparison.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "model/significance.hpp"

namespace reprise::model {

std::vector<SampleStore::Block> blocks_of(const Document& document, GraphKey graph, ReplayRange range, std::size_t most) {
  std::vector<SampleStore::Block> blocks;
  const GraphEntry* entry = document.find(graph);
  if (entry == nullptr) return blocks;
  std::vector<std::size_t> sampled;
  const std::size_t first = std::min(range.first, entry->replays.size());
  const std::size_t end = first + std::min(range.count, entry->replays.size() - first);
  for (std::size_t i = first; i < end; ++i) {
    if (entry->replays[i].sampled != 0) sampled.push_back(i);
  }
  const std::size_t taken = std::min(most, sampled.size());
  for (std::size_t i = 0; i < taken; ++i) {
    if (auto block = document.samples->find(entry->replays[sampled[i * sampled.size() / taken]])) blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> matching_nodes(const Graph& a, const Graph& b) {
  using Identity = std::tuple<std::string, std::string, trace::NodeKind>;
  const auto identity = [](const Graph& g, std::uint32_t n) {
    const trace::Node& node = g.record().nodes[n];
    return Identity{g.label_path(node.label), g.node_name(n), node.kind};
  };
  std::map<Identity, std::vector<std::uint32_t>> in_b;
  for (std::uint32_t n = b.node_count(); n-- > 0;) in_b[identity(b, n)].push_back(n);  // the first one last
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t n = 0; n < a.node_count(); ++n) {
    const auto found = in_b.find(identity(a, n));
    if (found == in_b.end() || found->second.empty()) continue;
    pairs.emplace_back(n, found->second.back());
    found->second.pop_back();
  }
  return pairs;
}

namespace {

std::vector<trace::DurationHistogram> times_of(const Stretch& stretch) {
  std::vector<trace::DurationHistogram> times(stretch.graph.node_count());
  for (const SampleStore::Block& block : stretch.blocks) {
    for (const trace::Sample& s : block->samples) {
      if (s.started != 0 && s.node < times.size()) times[s.node].add(s.duration);
    }
  }
  return times;
}

std::vector<std::uint32_t> unmatched(std::uint32_t count, std::vector<std::uint32_t> matched) {
  std::sort(matched.begin(), matched.end());
  std::vector<std::uint32_t> rest;
  for (std::uint32_t n = 0; n < count; ++n) {
    if (!std::binary_search(matched.begin(), matched.end(), n)) rest.push_back(n);
  }
  return rest;
}

}  // namespace

GraphComparison compare(const Stretch& a, const Stretch& b) {
  GraphComparison result;
  const auto times_a = times_of(a), times_b = times_of(b);
  std::vector<std::uint32_t> matched_a, matched_b;
  std::size_t compared = 0;
  for (const auto& [n, m] : matching_nodes(a.graph, b.graph)) {
    matched_a.push_back(n);
    matched_b.push_back(m);
    NodeComparison c{n, m, times_a[n].count(), times_b[m].count(), times_a[n].quantile(0.5), times_b[m].quantile(0.5)};
    if (c.median_a != 0 && c.count_b != 0) c.change = c.median_b / c.median_a - 1;
    c.p = viewer::compare(times_a[n], times_b[m]).p;
    compared += c.count_a != 0 && c.count_b != 0 ? 1 : 0;
    result.nodes.push_back(c);
  }
  for (NodeComparison& c : result.nodes) c.is_significant = c.p * static_cast<double>(std::max<std::size_t>(compared, 1)) < kSignificanceLevel;
  result.removed = unmatched(a.graph.node_count(), std::move(matched_a));
  result.added = unmatched(b.graph.node_count(), std::move(matched_b));
  return result;
}

}  // namespace reprise::model
