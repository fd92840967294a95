#include "layout/critical_path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

// All ways, one by one.
double longest_way(const LayoutGraph& graph, const std::vector<double>& weights) {
  const std::function<double(std::uint32_t)> from = [&](std::uint32_t node) {
    double longest = 0;
    for (const LayoutEdge e : graph.edges) {
      if (e.from == node) longest = std::max(longest, from(e.to));
    }
    return weights[node] + longest;
  };
  double longest = 0;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) longest = std::max(longest, from(n));
  return longest;
}

}  // namespace

TEST_CASE("critical path: it takes the heavier side of a diamond, and the other side has slack") {
  LayoutGraph graph = graph_of(4);
  graph.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  const CriticalPath path = critical_path(graph, {1, 5, 3, 1});
  CHECK(path.nodes == std::vector<std::uint32_t>{0, 1, 3});
  CHECK(path.length == 7);
  CHECK(path.slack == std::vector<double>{0, 0, 2, 0});
}

TEST_CASE("critical path: of ways as long as each other it takes the smaller nodes") {
  LayoutGraph graph = graph_of(4);
  graph.edges = {{0, 2}, {0, 1}, {1, 3}, {2, 3}};
  CHECK(critical_path(graph, {1, 1, 1, 1}).nodes == std::vector<std::uint32_t>{0, 1, 3});
}

TEST_CASE("critical path: a graph without edges has its heaviest node; one without nodes has none") {
  CHECK(critical_path(graph_of(3), {1, 4, 4}).nodes == std::vector<std::uint32_t>{1});
  CHECK(critical_path({}, {}).nodes.empty());
}

TEST_CASE("critical path: random graphs agree with a search of all ways") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const LayoutGraph graph = random_dag({.nodes = 18, .edges = 30, .reach = 6, .seed = seed});
    std::mt19937 random(seed);
    std::vector<double> weights(18);
    for (double& w : weights) w = static_cast<double>(random() % 100);
    const CriticalPath path = critical_path(graph, weights);
    CHECK(path.length == longest_way(graph, weights));
    double sum = 0;
    for (const std::uint32_t n : path.nodes) {
      sum += weights[n];
      CHECK(path.slack[n] == 0);
    }
    CHECK(sum == path.length);
    for (std::uint32_t n = 0; n < 18; ++n) {
      std::vector<double> later = weights;
      later[n] += path.slack[n];
      CHECK(longest_way(graph, later) == path.length);
      later[n] += 1;
      CHECK(longest_way(graph, later) == path.length + 1);
    }
  }
}

TEST_CASE("critical path: weights that do not fit are refused") {
  CHECK_THROWS_AS(static_cast<void>(critical_path(graph_of(2), {1})), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(critical_path(graph_of(1), {-1})), std::invalid_argument);
}
