#include "layout/layered_graph.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

// The maximum number of ranks that an edge with one bend per rank may pass.
std::uint32_t longest_chain(const LayoutGraph& graph, const std::vector<std::uint32_t>& ranks,
                            std::uint32_t rank_count) {
  std::vector<std::uint32_t> edges_passing(rank_count + 1, 0);
  for (const LayoutEdge edge : graph.edges) ++edges_passing[ranks[edge.to] - ranks[edge.from] - 1];
  std::uint64_t bends =
      2 * static_cast<std::uint64_t>(graph.edges.size()) - 2 * edges_passing[0] - edges_passing[1];
  const std::uint64_t budget = bend_budget(graph.node_count(), graph.edge_count());
  std::uint32_t longest = 2;  // shorter edges save nothing
  while (longest < rank_count) {
    bends += static_cast<std::uint64_t>(longest - 1) * edges_passing[longest + 1];
    if (bends > budget) break;
    ++longest;
  }
  return longest;
}

void index_links(LayeredGraph& g) {
  const std::uint32_t items = g.item_count(), links = g.link_count();
  g.first_down.assign(items + 1, 0);
  g.first_up.assign(items + 1, 0);
  for (std::uint32_t l = 0; l < links; ++l) {
    ++g.first_down[g.link_from[l] + 1];
    ++g.first_up[g.link_to[l] + 1];
  }
  for (std::uint32_t i = 0; i < items; ++i) {
    g.first_down[i + 1] += g.first_down[i];
    g.first_up[i + 1] += g.first_up[i];
  }
  std::vector<std::uint32_t> from(links), to(links),
      next(g.first_down.begin(), g.first_down.end() - 1);
  for (std::uint32_t l = 0; l < links; ++l) {
    const std::uint32_t place = next[g.link_from[l]]++;
    from[place] = g.link_from[l];
    to[place] = g.link_to[l];
  }
  g.link_from.swap(from);
  g.link_to.swap(to);
  g.up.resize(links);
  next.assign(g.first_up.begin(), g.first_up.end() - 1);
  for (std::uint32_t l = 0; l < links; ++l) g.up[next[g.link_to[l]]++] = l;
}

}  // namespace

std::uint64_t bend_budget(std::uint32_t nodes, std::uint32_t edges) noexcept {
  return 2000 + 2 * (static_cast<std::uint64_t>(nodes) + edges);
}

GroupTree::GroupTree(const std::vector<std::uint32_t>& parents)
    : parents_(parents), depths_(parents.size(), 1) {
  for (std::size_t g = 0; g < parents.size(); ++g) {
    if (parents[g] != kNoGroup) depths_[g] = depths_[parents[g]] + 1;
  }
}

std::uint32_t GroupTree::borders(std::uint32_t a, std::uint32_t b) const {
  const auto depth = [&](std::uint32_t g) { return g == kNoGroup ? 0 : depths_[g]; };
  std::uint32_t count = 0;
  while (a != b) {
    std::uint32_t& deeper = depth(a) >= depth(b) ? a : b;
    deeper = parents_[deeper];
    ++count;
  }
  return count;
}

LayeredGraph build_layered_graph(const LayoutGraph& graph,
                                 const std::vector<std::uint32_t>& ranks) {
  LayeredGraph g;
  g.node_count = graph.node_count();
  g.rank_count = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end()) + 1;
  g.rank = ranks;
  g.kind.assign(g.node_count, ItemKind::Node);
  g.segment.assign(g.node_count, 0);
  const auto add_item = [&](ItemKind kind, std::uint32_t rank) {
    g.rank.push_back(rank);
    g.kind.push_back(kind);
    g.segment.push_back(static_cast<std::uint32_t>(g.segments.size()));
    g.chains.push_back(g.item_count() - 1);
  };
  const auto link_last = [&] {
    g.link_from.push_back(*(g.chains.end() - 2));
    g.link_to.push_back(g.chains.back());
  };
  const std::uint32_t longest = g.rank_count == 0 ? 0 : longest_chain(graph, ranks, g.rank_count);
  g.first_chain.reserve(graph.edges.size() + 1);
  for (const LayoutEdge edge : graph.edges) {
    g.first_chain.push_back(static_cast<std::uint32_t>(g.chains.size()));
    g.chains.push_back(edge.from);
    const std::uint32_t begin = ranks[edge.from] + 1, end = ranks[edge.to];
    if (end - begin <= longest) {
      for (std::uint32_t rank = begin; rank < end; ++rank) {
        add_item(ItemKind::Bend, rank);
        link_last();
      }
    } else {
      add_item(ItemKind::Head, begin);
      link_last();
      add_item(ItemKind::Tail, end - 1);
      g.segments.push_back({g.item_count() - 2, g.item_count() - 1});
    }
    g.chains.push_back(edge.to);
    link_last();
  }
  g.first_chain.push_back(static_cast<std::uint32_t>(g.chains.size()));
  index_links(g);
  return g;
}

}  // namespace reprise::viewer
