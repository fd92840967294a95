#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "model/document_builder.hpp"
#include "model/graph_comparison.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;

namespace {

// `count` replays of a graph; from replay `since` on, node `slow` takes `factor` times as long.
std::shared_ptr<const model::Document> document(const trace::GraphVersion& graph,
                                                std::uint64_t count, std::uint64_t since,
                                                std::uint32_t slow, std::uint32_t factor) {
  trace::Records records;
  records.graph_versions = {graph};
  for (std::uint64_t n = 1; n <= count; ++n) {
    trace::SampleBlock block = test::random_replay(graph, n);
    block.replay = n;
    for (trace::Sample& s : block.samples) {
      if (s.node == slow && n >= since) s.duration *= factor;
    }
    const auto at = static_cast<trace::Time>(n * 100'000);
    records.replays.push_back({graph.graph, graph.version, 0, 0, n, at, at + 1, at + 2, at + 3, 0,
                               n % 2 == 0 ? std::uint8_t{1} : std::uint8_t{0}});
    if (n % 2 == 0) records.sample_blocks.push_back(std::move(block));
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE(
    "graph comparison: a node that became slower between two ranges is the only significant one") {
  const trace::GraphVersion record = test::random_graph(5);
  const auto d = document(record, 400, 201, 7, 3);
  const model::Graph& g = *d->find({0, 0})->graph;
  const auto before = model::blocks_of(*d, {0, 0}, {0, 200}, 1'000),
             after = model::blocks_of(*d, {0, 0}, {200, 200}, 1'000);
  CHECK(before.size() == 100);
  CHECK(after.size() == 100);
  const model::GraphComparison c = model::compare({g, before}, {g, after});
  CHECK(c.added.empty());
  CHECK(c.removed.empty());
  REQUIRE(c.nodes.size() == g.node_count());
  for (const model::NodeComparison& n : c.nodes) {
    CHECK(n.a == n.b);
    CHECK(n.count_a == 100);
    CHECK(n.is_significant == (n.a == 7));
    if (n.a == 7) CHECK(n.change > 1);
  }
  const model::GraphComparison same = model::compare({g, before}, {g, before});
  for (const model::NodeComparison& n : same.nodes) {
    CHECK(n.change == 0);
    CHECK_FALSE(n.is_significant);
  }
}

TEST_CASE("graph comparison: blocks are spread over the range, within the requested maximum") {
  const auto d = document(test::random_graph(5), 100, 1'000, 0, 1);
  const auto blocks = model::blocks_of(*d, {0, 0}, {}, 10);
  REQUIRE(blocks.size() == 10);
  CHECK(blocks.front()->replay == 2);
  CHECK(blocks.back()->replay == 92);
  CHECK(model::blocks_of(*d, {0, 0}, {0, 10}, 10).size() == 5);
  CHECK(model::blocks_of(*d, {0, 0}, {500, 10}, 10).empty());
  CHECK(model::blocks_of(*d, {4, 0}, {}, 10).empty());
  CHECK(model::blocks_of(*d, {0, 0}, {}, 0).empty());
}

TEST_CASE(
    "graph comparison: nodes match by name, label path and kind in order; others are added or "
    "removed") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const model::Graph a(test::random_graph(seed, {.nodes = 20})),
        b(test::random_graph(seed + 100, {.nodes = 25}));
    const model::GraphComparison c = model::compare({a, {}}, {b, {}});
    std::set<std::uint32_t> seen;
    for (const model::NodeComparison& n : c.nodes) {
      const trace::Node &x = a.record().nodes[n.a], &y = b.record().nodes[n.b];
      CHECK(std::tuple(x.name, x.label, x.kind) == std::tuple(y.name, y.label, y.kind));
      CHECK(seen.insert(n.b).second);
      // The same number of equal nodes precedes it on either side.
      const auto like = [&](const model::Graph& g, std::uint32_t end) {
        return std::count_if(
            g.record().nodes.begin(), g.record().nodes.begin() + end, [&](const trace::Node& z) {
              return std::tuple(x.name, x.label, x.kind) == std::tuple(z.name, z.label, z.kind);
            });
      };
      CHECK(like(a, n.a) == like(b, n.b));
      CHECK_FALSE(n.is_significant);
    }
    CHECK(c.nodes.size() + c.removed.size() == 20);
    CHECK(c.nodes.size() + c.added.size() == 25);
    for (const std::uint32_t n : c.added) CHECK(seen.count(n) == 0);
    // Unmatched nodes of the two sides differ.
    for (const std::uint32_t n : c.removed) {
      for (const std::uint32_t m : c.added) {
        const trace::Node &x = a.record().nodes[n], &y = b.record().nodes[m];
        CHECK_FALSE(std::tuple(x.name, x.label, x.kind) == std::tuple(y.name, y.label, y.kind));
      }
    }
  }
}
