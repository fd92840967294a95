#include "model/graph_comparison.hpp"

#include <algorithm>
#include <utility>

#include "model/node_matching.hpp"

namespace reprise::model {

std::vector<SampleStore::Block> blocks_of(const Document& document, GraphKey graph,
                                          ReplayRange range, std::size_t max_blocks) {
  std::vector<SampleStore::Block> blocks;
  const GraphEntry* entry = document.find(graph);
  if (entry == nullptr) return blocks;
  std::vector<std::size_t> sampled;
  const std::size_t first = std::min(range.first, entry->replays.size());
  const std::size_t end = first + std::min(range.count, entry->replays.size() - first);
  for (std::size_t i = first; i < end; ++i) {
    if (entry->replays[i].sampled != 0 && admits(range, entry->replays[i])) sampled.push_back(i);
  }
  const std::size_t count = std::min(max_blocks, sampled.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (auto block = document.samples->find(entry->replays[sampled[i * sampled.size() / count]]))
      blocks.push_back(std::move(block));
  }
  return blocks;
}

namespace {

std::vector<detail::DurationHistogram> times_of(const SampledReplays& replays) {
  std::vector<detail::DurationHistogram> times(replays.graph.node_count());
  for (const SampleStore::Block& block : replays.blocks) {
    for (const trace::Sample& s : block->samples) {
      if (s.started != 0 && s.node < times.size()) times[s.node].add(s.duration);
    }
  }
  return times;
}

// Pairs unmatched nodes with the same index, label and kind.
void pair_by_index(const Graph& a, const Graph& b, NodeMatching& matching) {
  std::vector<std::uint32_t> removed;
  for (const std::uint32_t n : matching.removed) {
    const auto same = std::lower_bound(matching.added.begin(), matching.added.end(), n);
    const trace::Node& node = a.record().nodes[n];
    if (same == matching.added.end() || *same != n || node.kind != b.record().nodes[n].kind ||
        a.label_path(node.label) != b.label_path(b.record().nodes[n].label)) {
      removed.push_back(n);
      continue;
    }
    matching.pairs.emplace_back(n, n);
    matching.added.erase(same);
  }
  matching.removed = std::move(removed);
  std::sort(matching.pairs.begin(), matching.pairs.end());
}

NodeMatching match(const Graph& a, const Graph& b) {
  const auto identities = [](const Graph& g) {
    std::vector<NodeIdentity> all(g.node_count());
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      const trace::Node& node = g.record().nodes[n];
      all[n] = {g.node_name(n), g.label_path(node.label), node.kind, node.command};
    }
    return all;
  };
  NodeMatching matching = match_nodes(identities(a), identities(b));
  if (a.key().graph != b.key().graph && a.topology() == b.topology()) pair_by_index(a, b, matching);
  return matching;
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> matching_nodes(const Graph& a,
                                                                    const Graph& b) {
  return match(a, b).pairs;
}

GraphComparison compare(const SampledReplays& a, const SampledReplays& b) {
  GraphComparison result;
  NodeMatching matching = match(a.graph, b.graph);
  const auto times_a = times_of(a), times_b = times_of(b);
  std::size_t compared = 0;
  for (const auto& [n, m] : matching.pairs) {
    NodeComparison c{n,
                     m,
                     times_a[n].count(),
                     times_b[m].count(),
                     times_a[n].quantile(0.5),
                     times_b[m].quantile(0.5)};
    if (c.median_a != 0 && c.count_b != 0) c.change = c.median_b / c.median_a - 1;
    c.p = compare(times_a[n], times_b[m]).p;
    compared += c.count_a != 0 && c.count_b != 0 ? 1 : 0;
    result.nodes.push_back(c);
  }
  for (NodeComparison& c : result.nodes) c.is_significant = is_significant(c.p, compared);
  result.removed = std::move(matching.removed);
  result.added = std::move(matching.added);
  return result;
}

}  // namespace reprise::model
