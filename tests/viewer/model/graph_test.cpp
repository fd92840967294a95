#include "model/graph.hpp"

#include <doctest/doctest.h>

#include "viewer/model/small_trace.hpp"

using namespace reprise;

TEST_CASE("graph: block relations are found by their later node, and by both nodes") {
  trace::GraphVersion record;
  record.strings = {""};
  record.labels = {{}};
  record.nodes.resize(6);
  record.segments = {{1, 5, 2, 9}};
  record.block_relations = {{1, 3, 1, 1, 0, 0}, {1, 4, 0, 0, 0, 0}, {3, 4, 1, 1, -1, 1}};
  const model::Graph graph(record);
  REQUIRE(graph.relations_into(4).size() == 2);
  CHECK(graph.relations_into(4)[0] == record.block_relations[1]);
  CHECK(graph.relations_into(4)[1] == record.block_relations[2]);
  CHECK(graph.relations_into(3).size() == 1);
  CHECK(graph.relations_into(0).empty());
  CHECK(graph.relations_into(5).empty());
  REQUIRE(graph.relation(3, 4) != nullptr);
  CHECK(graph.relation(3, 4)->high == 1);
  CHECK(graph.relation(2, 4) == nullptr);
  CHECK(graph.relation(4, 5) == nullptr);
}

TEST_CASE("graph: launches are summed by the user's line, or the module of native code") {
  trace::GraphVersion record = test::small_topology().graph_versions[0];
  const auto text = [&](const char* name) {
    record.strings.push_back(name);
    return static_cast<std::uint32_t>(record.strings.size() - 1);
  };
  const std::uint32_t train = text("/home/a/train.py"), torch = text("/lib/libtorch.so");
  record.frames = {{trace::kNone, 0, train, 40, 0}, {0, 0, torch, 0, 16}};
  const std::uint32_t other = text("/home/b/train.py");
  record.launch_stacks = {
      {2, 0, train, 40}, {9, 1, 0, 0}, {5, 1, train, 40}, {1, 0, train, 52}, {3, 0, other, 40}};
  const auto lines = model::Graph(record).launch_lines();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].text == "libtorch.so");
  CHECK(lines[0].launches == 9);
  CHECK(lines[1].text == "train.py:40");
  CHECK(lines[1].launches == 7);
  CHECK(lines[2].text == "train.py:40");  // of another folder
  CHECK(lines[2].launches == 3);
  CHECK(lines[3].text == "train.py:52");
}
