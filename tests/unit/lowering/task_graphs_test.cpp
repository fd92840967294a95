#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/task_graphs.hpp"

using namespace reprise::test;

TEST_CASE(
    "task graphs: each shape leads forward, has no redundant edges, and has about the requested "
    "size") {
  for (const std::string_view name : task_graph_names()) {
    for (const std::uint32_t nodes : {10u, 300u}) {
      CAPTURE(name);
      CAPTURE(nodes);
      const TaskGraph graph = make_task_graph(name, nodes);
      CHECK(graph.name == name);
      CHECK(graph.size() >= nodes / 3);
      if (nodes == 300) CHECK(graph.size() <= nodes + nodes / 5);
      std::vector<std::set<std::uint32_t>> before(graph.size());
      for (std::uint32_t node = 0; node < graph.size(); ++node) {
        const std::vector<std::uint32_t>& parents = graph.parents[node];
        REQUIRE(std::all_of(parents.begin(), parents.end(),
                            [&](std::uint32_t parent) { return parent < node; }));
        CHECK(std::is_sorted(parents.begin(), parents.end()));
        for (const std::uint32_t parent : parents) {
          CHECK(std::none_of(parents.begin(), parents.end(),
                             [&](std::uint32_t other) { return before[other].contains(parent); }));
        }
        for (const std::uint32_t parent : parents) {
          before[node].insert(before[parent].begin(), before[parent].end());
          before[node].insert(parent);
        }
      }
    }
  }
}

TEST_CASE("task graphs: they have the edges and the longest path of their shape") {
  CHECK(make_task_graph("chain", 100).depth() == 100);
  CHECK(make_task_graph("chain", 100).edges() == 99);
  CHECK(make_task_graph("wide", 100).depth() == 1);
  CHECK(make_task_graph("tree", 127).depth() == 7);
  CHECK(make_task_graph("reverse-tree", 127).depth() == 7);
  CHECK(make_task_graph("reverse-tree", 127).parents[126].size() == 2);
  CHECK(make_task_graph("layers-8", 80).edges() == 9 * 64);
  CHECK(make_task_graph("sparse-32", 320).edges() == 9 * 32 * 3);
  CHECK(make_task_graph("fork-join-16", 35).edges() == 4 * 16);
  CHECK(make_task_graph("wavefront", 100).depth() == 19);
  const TaskGraph cholesky = make_task_graph("cholesky", 1000);
  CHECK(cholesky.size() == 816);
  CHECK(cholesky.depth() == 46);  // a potrf, a trsm and a syrk per diagonal tile
  CHECK(make_task_graph("attention", 59).edges() == 105);
}

TEST_CASE("task graphs: series-parallel is identical on every platform") {
  const TaskGraph graph = make_task_graph("series-parallel", 300);
  CHECK(graph.parents == make_task_graph("series-parallel", 300).parents);
  CHECK(graph.size() > 300);
}

TEST_CASE("task graphs: an unknown name throws an error that lists the known ones") {
  std::string text;
  try {
    static_cast<void>(make_task_graph("star", 10));
  } catch (const std::invalid_argument& error) {
    text = error.what();
  }
  CHECK(text.find("unknown shape 'star'") != std::string::npos);
  CHECK(text.find("cholesky") != std::string::npos);
}
