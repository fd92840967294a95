#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "model/document_builder.hpp"
#include "model/graph_table.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;
using trace::Time;

namespace {

trace::GraphVersion graph_of_batch(std::uint32_t id, std::uint32_t batch) {
  trace::GraphVersion g = test::small_topology().graph_versions[0];
  g.graph = id;
  g.label = "batch " + std::to_string(batch);
  g.nodes[1].grid[0] = batch;
  g.slab_bytes = 1'024 * batch;
  g.compiled = 5'000 + id;
  g.compile_time = 700;
  g.instantiate_time = 40;
  return g;
}

// Graphs 1 to 3 are a family; 4 has fewer edges; 5 was never replayed and shares 4's topology.
std::shared_ptr<const model::Document> document_of_batches() {
  trace::Records r = test::small_topology();
  r.graph_versions.clear();
  for (std::uint32_t id = 1; id <= 3; ++id) r.graph_versions.push_back(graph_of_batch(id, id * 8));
  r.graph_versions[2].strings.push_back("blur_wide");
  r.graph_versions[2].kernels.push_back({8, 8, 0, 0});
  r.graph_versions[2].nodes[2].kernel = 1;
  for (const std::uint32_t id : {4u, 5u}) {
    r.graph_versions.push_back(graph_of_batch(id, 1));
    r.graph_versions.back().label = id == 4 ? "tail" : "spare";
    r.graph_versions.back().edges.pop_back();
  }
  r.graph_versions.push_back(graph_of_batch(1, 8));  // an update of graph 1
  r.graph_versions.back().version = 2;
  const auto add = [&](std::uint32_t graph, std::uint32_t version, std::uint64_t n, Time device) {
    const auto at = static_cast<Time>(100'000 * n + graph * 10'000);
    r.replays.push_back(
        {graph, version, 0, 4, n, at, at + 900, at + 2'000, at + 2'000 + device, 77, 0});
  };
  for (std::uint64_t n = 1; n <= 4; ++n) add(1, n < 3 ? 1 : 2, n, 1'000);
  for (std::uint64_t n = 1; n <= 2; ++n) add(2, 1, n, 3'000);
  add(3, 1, 1, 6'000);
  add(4, 1, 1, 4'000);
  r.host_ranges = {{77, 0, 1'000, 1'300, "record batch 16", trace::kNone, 0},
                   {77, 0, 6'000, 9'000, "record batch 16", trace::kNone, 0},  // a later recording
                   {77, 0, 9'000, 9'050, "upload batch 16", 2, 0}};
  r.pool_uses = {{0, 2, trace::PoolRole::Holder, 9'900, 0}};
  r.pool_states = {{0, 1, 9'500, "weights", 1, 4'096, 0}};
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(r));
  return builder.publish();
}

}  // namespace

TEST_CASE("graph table: one row per graph has the figures of all its versions") {
  const model::GraphTable table = model::graph_table(*document_of_batches());
  REQUIRE(table.rows.size() == 5);
  const model::GraphRow& first = table.rows[0];
  CHECK(first.key == model::GraphKey{1, 2});
  CHECK(first.versions == 2);
  CHECK(first.totals.replays == 4);
  CHECK(first.totals.device_time == 4'000);
  CHECK(first.median == 1'000);
  CHECK(first.p99 == 1'000);
  CHECK(first.latency == 2'000);
  CHECK(first.gap == 99'000);
  CHECK(first.totals.compile == 1'400);
  CHECK(first.totals.instantiate == 80);
  CHECK(first.totals.share == doctest::Approx(0.2));
  CHECK(first.totals.slab_bytes == 8 * 1'024);
  const model::GraphRow& second = table.rows[1];
  CHECK(second.totals.record == 300);  // not the recording after it was compiled
  CHECK(second.totals.upload == 50);
  CHECK(second.pool == "weights");
  const model::GraphRow& spare = table.rows[4];
  CHECK(spare.totals.never_replayed == 1);
  CHECK(spare.median == -1);
  CHECK(spare.gap == -1);
  CHECK(spare.pool.empty());
}

TEST_CASE("graph table: graphs of one topology form a family with totals and differences") {
  const model::GraphTable table = model::graph_table(*document_of_batches());
  REQUIRE(table.families.size() == 2);
  const model::GraphFamily& batches = table.families[0];       // 16 of 20 us
  CHECK(batches.rows == std::vector<std::uint32_t>{1, 2, 0});  // 6, 6, 4 us
  CHECK(batches.totals.device_time == 16'000);
  CHECK(batches.totals.share == doctest::Approx(0.8));
  CHECK(batches.totals.replays == 7);
  CHECK(batches.min_median == 1'000);
  CHECK(batches.max_median == 6'000);
  CHECK(batches.totals.slab_bytes == (8 + 16 + 24) * 1'024);
  CHECK(model::family_name(table, batches) == "batch * (3 graphs)");
  CHECK(model::differences_text(batches) == "kernels in 1 node, grids in 1 node");
  CHECK(model::family_name(table, table.families[1]) == "tail and 1 more");
  CHECK(model::differences_text(table.families[1]).empty());
  for (std::uint32_t f = 0; f < 2; ++f) {
    for (const std::uint32_t r : table.families[f].rows) CHECK(table.rows[r].family == f);
  }
  CHECK(table.totals.graphs == 5);
  CHECK(table.totals.never_replayed == 1);
  CHECK(table.totals.replays == 8);
  CHECK(table.totals.share == 1);
  CHECK(table.totals.preparation() == 6 * 740 + 300 + 50);
}

TEST_CASE("graph table: the cost of creating graphs is known per graph, per family and in total") {
  trace::Records r = test::small_topology();
  r.graph_versions.clear();
  for (std::uint32_t id = 1; id <= 4; ++id) r.graph_versions.push_back(graph_of_batch(id, 8));
  r.graph_versions[3].edges.pop_back();
  r.host_ranges = {{77, 0, 1'000, 1'300, "upload batch 8", 4, 0}};
  r.creation_costs = {{1, 100, 40, 0, 5'000},
                      {1, 900'000, 40, 7, 5'000, 300},  // replaces it
                      {2, 200, 50, 0, -1'000},
                      {3, 300, 60, 9, trace::kUnknownBytes, 20}};
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(r));
  const auto document = builder.publish();
  CHECK(document->first == 100);
  CHECK(document->last == 900'000);
  const model::GraphTable table = model::graph_table(*document);
  const auto costs = [](const model::GraphTotals& t) {
    return std::tuple(t.record, t.upload, t.capture_bytes, t.launch_bytes, t.memory_bytes());
  };
  using Bytes = std::optional<std::int64_t>;
  const Bytes unknown;
  CHECK(costs(table.rows[0].totals) == std::tuple(40, 7, Bytes(5'000), Bytes(300), Bytes(5'300)));
  CHECK(costs(table.rows[1].totals) == std::tuple(50, 0, Bytes(-1'000), unknown, Bytes(-1'000)));
  CHECK(costs(table.rows[2].totals) == std::tuple(60, 9, unknown, Bytes(20), Bytes(20)));
  CHECK(costs(table.rows[3].totals) == std::tuple(0, 300, unknown, unknown, unknown));
  const std::uint32_t family = table.rows[0].family;
  CHECK(costs(table.families[family].totals) ==
        std::tuple(150, 16, Bytes(4'000), Bytes(320), Bytes(4'320)));
  CHECK(costs(table.families[1 - family].totals) == costs(table.rows[3].totals));
  CHECK(costs(table.totals) == std::tuple(150, 316, Bytes(4'000), Bytes(320), Bytes(4'320)));
}

TEST_CASE("graph table: ten thousand graphs have one row each, and totals that add up") {
  trace::Records r;
  for (std::uint32_t id = 0; id < 10'000; ++id) {
    trace::GraphVersion g = test::random_graph(id % 7, {.nodes = 4 + id % 3});
    g.graph = id;
    g.version = 1;
    r.graph_versions.push_back(std::move(g));
    for (std::uint64_t n = 1; n <= 3; ++n) {
      const auto at = static_cast<Time>(1'000'000 * n + id);
      r.replays.push_back({id, 1, 0, 0, n, at, at + 1, at + 2, at + 12, 1, 0});
    }
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(r));
  const model::GraphTable table = model::graph_table(*builder.publish());
  CHECK(table.rows.size() == 10'000);
  CHECK(table.families.size() <= 21);
  CHECK(table.totals.device_time == 300'000);
  double share = 0;
  std::uint64_t graphs = 0;
  for (const model::GraphFamily& family : table.families)
    share += family.totals.share, graphs += family.totals.graphs;
  CHECK(share == doctest::Approx(1));
  CHECK(graphs == 10'000);
}
