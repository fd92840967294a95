#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "model/document_builder.hpp"
#include "model/graph_comparison.hpp"
#include "model/sampled_replays.hpp"
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
  const auto compare = [&](model::ReplayRange a, model::ReplayRange b) {
    return model::compare({*d, {0, 0}, a}, {*d, {0, 0}, b});
  };
  const model::GraphComparison c = compare({0, 200}, {200, 200});
  CHECK(c.added + c.removed == 0);
  REQUIRE(c.nodes.size() == record.nodes.size());
  for (const model::ComparedNode& n : c.nodes) {
    CHECK(n.a == n.b);
    CHECK(n.times.count_a == 100);
    CHECK(n.times.is_significant() == (n.a == 7));
    if (n.a == 7) CHECK(n.times.change > 1);
  }
  const model::GraphComparison same = compare({0, 200}, {0, 200});
  for (const model::ComparedNode& n : same.nodes) {
    CHECK(n.times.change == 0);
    CHECK_FALSE(n.times.is_significant());
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
    const auto with = [](const trace::GraphVersion& graph) {
      model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
      trace::Records records;
      records.graph_versions = {graph};
      builder.add(std::move(records));
      return builder.publish();
    };
    const auto in_a = with(test::random_graph(seed, {.nodes = 20})),
               in_b = with(test::random_graph(seed + 100, {.nodes = 25}));
    const model::GraphComparison c = model::compare({*in_a, {0, 0}}, {*in_b, {0, 0}});
    const model::Graph &a = *c.graph_a, &b = *c.graph_b;
    std::vector<std::uint32_t> added, removed;
    std::set<std::uint32_t> seen;
    for (const model::ComparedNode& n : c.nodes) {
      if (n.a == trace::kNone) added.push_back(n.b);
      if (n.b == trace::kNone) removed.push_back(n.a);
      if (n.a == trace::kNone || n.b == trace::kNone) continue;
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
      CHECK_FALSE(n.times.is_significant());
    }
    CHECK(c.added == added.size());
    CHECK(c.removed == removed.size());
    CHECK(seen.size() + removed.size() == 20);
    CHECK(seen.size() + added.size() == 25);
    for (const std::uint32_t n : added) CHECK(seen.count(n) == 0);
    // Unmatched nodes of the two sides differ.
    for (const std::uint32_t n : removed) {
      for (const std::uint32_t m : added) {
        const trace::Node &x = a.record().nodes[n], &y = b.record().nodes[m];
        CHECK_FALSE(std::tuple(x.name, x.label, x.kind) == std::tuple(y.name, y.label, y.kind));
      }
    }
  }
}
