#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "lowering/cost_schedule.hpp"
#include "lowering/lowered_graph.hpp"
#include "support/manual_dependencies.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

TEST_CASE("cost schedule: each node occurs once, after its parents, in its assigned lane") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const DependencyGraph dependencies = random_dependencies({.seed = seed});
    std::vector<std::uint32_t> costs(dependencies.node_count());
    for (std::uint32_t i = 0; i < costs.size(); ++i)
      costs[i] = static_cast<std::uint32_t>((i * seed * 7919) % 5000);
    for (const std::uint32_t lanes : {1u, 2u, 5u, 64u}) {
      const LaneAssignment assignment = assign_lanes_by_cost(dependencies, lanes, costs);
      REQUIRE(assignment.order.size() == dependencies.node_count());
      CHECK(assignment.lanes <= lanes);
      std::vector<bool> placed(dependencies.node_count(), false);
      std::vector<std::uint32_t> tail(lanes, kNone);
      for (const std::uint32_t node : assignment.order) {
        REQUIRE_FALSE(placed[node]);
        for (const Edge& edge : dependencies.edges_into(node)) REQUIRE(placed[edge.from]);
        placed[node] = true;
        REQUIRE(assignment.before[node] == tail[assignment.lane[node]]);
        tail[assignment.lane[node]] = node;
      }
      const LoweredGraph graph = build_lanes(dependencies, assignment);
      CHECK_NOTHROW(check_lowered_graph(dependencies, graph));
      CHECK(implies_all(dependencies, graph));
    }
  }
}

TEST_CASE("cost schedule: the node with the longer remaining path starts first") {
  // 0 and 1 are ready; 1 leads to a long chain.
  const DependencyGraph dependencies = manual_dependencies(4, {{1, 2}, {2, 3}});
  const LaneAssignment assignment =
      assign_lanes_by_cost(dependencies, 1, std::vector<std::uint32_t>{1000, 1000, 1000, 1000});
  CHECK(assignment.order == std::vector<std::uint32_t>{1, 2, 3, 0});  // 3 continues the lane of 2
  const LaneAssignment costly =
      assign_lanes_by_cost(dependencies, 1, std::vector<std::uint32_t>{90000, 1000, 1000, 1000});
  CHECK(costly.order.front() == 0);
}

TEST_CASE("cost schedule: a chain takes one lane, regardless of the limit") {
  const DependencyGraph dependencies = manual_dependencies(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  CHECK(assign_lanes_by_cost(dependencies, 8, std::vector<std::uint32_t>(5, 10)).lanes == 1);
}

TEST_CASE(
    "cost schedule: short nodes need few lanes, limited by the issue rate; long nodes need one per "
    "ready node") {
  const DependencyGraph wide = manual_dependencies(1000, {});
  CHECK(lanes_for_costs(wide, 128, std::vector<std::uint32_t>(1000, 0)) == 16);
  CHECK(lanes_for_costs(wide, 128, std::vector<std::uint32_t>(1000, 2000)) == 32);
  CHECK(lanes_for_costs(wide, 128, std::vector<std::uint32_t>(1000, 100000)) == 128);
  CHECK(lanes_for_costs(manual_dependencies(3, {{0, 1}, {1, 2}}), 128,
                        std::vector<std::uint32_t>(3, 100000)) == 4);
}

TEST_CASE("cost schedule: more lanes delay the end by at most one node") {
  const DependencyGraph dependencies = layer_dependencies(64, 16, 3);
  const std::vector<std::uint32_t> costs(64, 5000);
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint32_t lanes : {1u, 2u, 4u, 8u, 16u}) {
    const std::uint64_t now = schedule_by_cost(dependencies, lanes, costs).makespan;
    CHECK(now < before);
    before = now;
  }
}

TEST_CASE("cost schedule: an empty graph has an empty schedule") {
  const DependencyGraph empty = manual_dependencies(0, {});
  CHECK(assign_lanes_by_cost(empty, 4, {}).order.empty());
  CHECK(schedule_by_cost(empty, 4, {}).makespan == 0);
}
