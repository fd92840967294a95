#include "layout/ranks.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kSlides = 4;

// A node with more edges on one side moves towards that side as far as its edges let it. Nodes in the order given, so that
// a chain moves as a whole.
class Slider {
 public:
  Slider(const LayoutGraph& graph, std::vector<std::uint32_t>& ranks) : graph_(graph), adjacency_(adjacency_of(graph)), ranks_(ranks) {}

  void slide_down(std::uint32_t node) {
    const auto begin = adjacency_.first_out[node], end = adjacency_.first_out[node + 1];
    if (end - begin <= adjacency_.first_in[node + 1] - adjacency_.first_in[node]) return;
    std::uint32_t limit = UINT32_MAX;
    for (auto i = begin; i < end; ++i) limit = std::min(limit, ranks_[graph_.edges[adjacency_.out[i]].to]);
    ranks_[node] = limit - 1;
  }
  void slide_up(std::uint32_t node) {
    const auto begin = adjacency_.first_in[node], end = adjacency_.first_in[node + 1];
    if (end - begin <= adjacency_.first_out[node + 1] - adjacency_.first_out[node]) return;
    std::uint32_t limit = 0;
    for (auto i = begin; i < end; ++i) limit = std::max(limit, ranks_[graph_.edges[adjacency_.in[i]].from]);
    ranks_[node] = limit + 1;
  }

 private:
  const LayoutGraph& graph_;
  Adjacency adjacency_;
  std::vector<std::uint32_t>& ranks_;
};

}  // namespace

std::vector<std::uint32_t> assign_ranks(const LayoutGraph& graph) {
  const std::uint32_t nodes = graph.node_count();
  std::vector<std::uint32_t> ranks(nodes, 0);
  std::vector<LayoutEdge> edges = graph.edges;
  std::stable_sort(edges.begin(), edges.end(), [](LayoutEdge a, LayoutEdge b) { return a.from < b.from; });
  for (const LayoutEdge edge : edges) ranks[edge.to] = std::max(ranks[edge.to], ranks[edge.from] + 1);
  Slider slider(graph, ranks);
  for (std::uint32_t i = 0; i < kSlides; ++i) {
    for (std::uint32_t n = nodes; n-- > 0;) slider.slide_down(n);
    for (std::uint32_t n = 0; n < nodes; ++n) slider.slide_up(n);
  }
  if (nodes == 0) return ranks;
  const std::uint32_t top = *std::min_element(ranks.begin(), ranks.end());
  for (std::uint32_t& rank : ranks) rank -= top;
  return ranks;
}

}  // namespace reprise::viewer
