#include "layout/ranks.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kSlides = 6;

// Moves each node with at least as many edges on one side towards that side, as far as its edges
// allow. Processes nodes in the given order, so that chains move as a whole.
class Slider {
 public:
  Slider(const LayoutGraph& graph, std::vector<std::uint32_t>& ranks)
      : graph_(graph), adjacency_(adjacency_of(graph)), ranks_(ranks) {}

  void slide_down() {
    for (std::uint32_t n = graph_.node_count(); n-- > 0;) {
      if (out_degree(n) == 0 || out_degree(n) < in_degree(n)) continue;
      std::uint32_t limit = UINT32_MAX;
      for (auto i = adjacency_.first_out[n]; i < adjacency_.first_out[n + 1]; ++i)
        limit = std::min(limit, ranks_[graph_.edges[adjacency_.out[i]].to]);
      ranks_[n] = limit - 1;
    }
  }
  void slide_up() {
    for (std::uint32_t n = 0; n < graph_.node_count(); ++n) {
      if (in_degree(n) == 0 || in_degree(n) < out_degree(n)) continue;
      std::uint32_t limit = 0;
      for (auto i = adjacency_.first_in[n]; i < adjacency_.first_in[n + 1]; ++i)
        limit = std::max(limit, ranks_[graph_.edges[adjacency_.in[i]].from]);
      ranks_[n] = limit + 1;
    }
  }
  // Total length of all edges.
  [[nodiscard]] std::uint64_t length() const {
    std::uint64_t sum = 0;
    for (const LayoutEdge edge : graph_.edges) sum += ranks_[edge.to] - ranks_[edge.from];
    return sum;
  }

 private:
  [[nodiscard]] std::uint32_t in_degree(std::uint32_t node) const {
    return adjacency_.first_in[node + 1] - adjacency_.first_in[node];
  }
  [[nodiscard]] std::uint32_t out_degree(std::uint32_t node) const {
    return adjacency_.first_out[node + 1] - adjacency_.first_out[node];
  }

  const LayoutGraph& graph_;
  Adjacency adjacency_;
  std::vector<std::uint32_t>& ranks_;
};

}  // namespace

std::vector<std::uint32_t> assign_ranks(const LayoutGraph& graph) {
  const std::uint32_t nodes = graph.node_count();
  std::vector<std::uint32_t> ranks(nodes, 0);
  std::vector<LayoutEdge> edges = graph.edges;
  std::stable_sort(edges.begin(), edges.end(),
                   [](LayoutEdge a, LayoutEdge b) { return a.from < b.from; });
  for (const LayoutEdge edge : edges)
    ranks[edge.to] = std::max(ranks[edge.to], ranks[edge.from] + 1);
  Slider slider(graph, ranks);
  std::vector<std::uint32_t> best = ranks;
  std::uint64_t shortest = slider.length();
  for (std::uint32_t i = 0; i < kSlides; ++i) {
    if (i % 2 == 0) {
      slider.slide_down();
    } else {
      slider.slide_up();
    }
    if (slider.length() < shortest) {
      shortest = slider.length();
      best = ranks;
    }
  }
  ranks = best;
  if (nodes == 0) return ranks;
  const std::uint32_t top = *std::min_element(ranks.begin(), ranks.end());
  for (std::uint32_t& rank : ranks) rank -= top;
  return ranks;
}

}  // namespace reprise::viewer
