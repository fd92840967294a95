#include "layout/ordering.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "layout/components.hpp"
#include "layout/crossings.hpp"
#include "layout/exchange.hpp"
#include "layout/ranks.hpp"
#include "layout/sweep.hpp"
#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

LayeredGraph layered(const LayoutGraph& graph) {
  return build_layered_graph(graph, assign_ranks(graph));
}

// Random graphs with and without segments.
LayeredGraph random_layered(std::uint32_t seed) {
  if (seed % 3 == 0) return layered(nested_chain(150 + seed, 120, seed));
  LayoutGraph graph = random_dag({.nodes = 90 + seed % 60,
                                  .edges = 130 + seed % 120,
                                  .reach = seed % 3 == 1 ? 12u : 10'000u,
                                  .seed = seed});
  if (seed % 2 == 0) {
    for (std::uint32_t n = 2; n < graph.node_count(); ++n) graph.edges.push_back({n - 2, n});
    for (std::uint32_t i = 0; i < 3; ++i)
      graph.edges.insert(graph.edges.end(), graph.edges.begin(), graph.edges.begin() + 100);
  }
  return layered(graph);
}

std::uint32_t misplaced(const LayeredGraph& graph, const RankOrder& order) {
  std::uint32_t wrong = 0;
  std::vector<bool> seen(graph.item_count(), false);
  for (std::uint32_t r = 0; r < graph.rank_count; ++r) {
    std::uint32_t place = 0, gap = 0;
    for (const std::uint32_t item : order.rank(r)) {
      if (seen[item] || graph.rank[item] != r || order.place[item] != place++ ||
          order.gap[item] < gap)
        ++wrong;
      seen[item] = true;
      gap = order.gap[item];
    }
  }
  return wrong + static_cast<std::uint32_t>(std::count(seen.begin(), seen.end(), false));
}

}  // namespace

TEST_CASE("crossings: the count equals that of all pairs, in random orders and with segments") {
  std::uint32_t with_segments = 0;
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    const LayeredGraph graph = random_layered(seed);
    with_segments += graph.segments.empty() ? 0 : 1;
    RankOrder order = order_ranks(graph, {});
    CHECK(misplaced(graph, order) == 0);
    CHECK(count_crossings(graph, order) == crossings_by_pairs(graph, order));
    sweep(graph, order, {.direction = SweepDirection::Down, .ties = SweepTies::Reverse});
    CHECK(misplaced(graph, order) == 0);
    CHECK(count_crossings(graph, order) == crossings_by_pairs(graph, order));
    sweep(graph, order, {.direction = SweepDirection::Up, .measure = SweepMeasure::Median});
    CHECK(misplaced(graph, order) == 0);
    CHECK(count_crossings(graph, order) == crossings_by_pairs(graph, order));
  }
  CHECK(with_segments >= 8);
}

TEST_CASE("exchange: it removes as many crossings as it reports") {
  std::uint64_t removed_in_all = 0;
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    const LayeredGraph graph = random_layered(seed);
    RankOrder order = order_ranks(graph, {});
    sweep(graph, order, {.direction = SweepDirection::Down, .ties = SweepTies::Reverse});
    const std::uint64_t before = count_crossings(graph, order);
    const std::uint64_t removed =
        exchange_neighbours(
            graph, order,
            {.equal = seed % 2 == 0 ? EqualExchanges::Leave : EqualExchanges::Make, .passes = 3})
            .removed;
    CHECK(count_crossings(graph, order) + removed == before);
    CHECK(misplaced(graph, order) == 0);
    removed_in_all += removed;
  }
  CHECK(removed_in_all > 0);
}

TEST_CASE("ordering: two crossed pairs are uncrossed") {
  LayoutGraph graph = graph_of(5);
  graph.edges = {{0, 1}, {0, 2}, {1, 4}, {2, 3}};
  const LayeredGraph g = layered(graph);
  CHECK(count_crossings(g, order_ranks(g, {})) == 0);
}

TEST_CASE("ordering: two nodes that both lead to the same two cross once") {
  LayoutGraph graph = graph_of(5);
  graph.edges = {{0, 2}, {0, 3}, {1, 2}, {1, 3}, {3, 4}};
  const LayeredGraph g = layered(graph);
  CHECK(count_crossings(g, order_ranks(g, {})) == 1);
}
