#include <doctest/doctest.h>

#include <algorithm>

#include "model/critical_path.hpp"
#include "model/sync_costs.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;

namespace {

template <class Keep>
model::Graph with_edges(const trace::GraphVersion& record, Keep keep) {
  trace::GraphVersion r = record;
  r.edges.clear();
  for (std::uint32_t e = 0; e < record.edges.size(); ++e) {
    if (keep(e)) r.edges.push_back(record.edges[e]);
  }
  return model::Graph(r);
}

// The graph in which only the nodes of edge e lost their order: predecessors of its start still
// precede its end, and its start the successors of its end.
model::Graph without_order(const model::Graph& g, std::uint32_t e) {
  trace::GraphVersion r = g.record();
  const auto [u, v] = std::pair(r.edges[e].from, r.edges[e].to);
  r.edges.erase(r.edges.begin() + static_cast<std::ptrdiff_t>(e));
  for (const model::Neighbour& p : g.predecessors(u)) r.edges.push_back({p.node, v});
  for (const model::Neighbour& s : g.successors(v)) r.edges.push_back({u, s.node});
  std::sort(r.edges.begin(), r.edges.end(), [](const trace::Edge& a, const trace::Edge& b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
  return model::Graph(r);
}

trace::GraphVersion chain(std::uint32_t nodes) {
  trace::GraphVersion r = test::random_graph(1, {.nodes = nodes, .density = 0});
  for (std::uint32_t n = 1; n < nodes; ++n) r.edges.push_back({n - 1, n});
  return r;
}

bool leads_to(const model::Graph& g, std::uint32_t from, std::uint32_t to) {
  if (from == to) return true;
  for (const model::Neighbour& s : g.successors(from)) {
    if (s.node <= to && leads_to(g, s.node, to)) return true;
  }
  return false;
}

void check_against_removal(const trace::GraphVersion& r, std::uint64_t seed) {
  const model::Graph g(r);
  const std::vector<double> d =
      model::durations(model::replay_times(g, test::random_replay(r, seed, 6)));
  const model::SyncCosts costs = model::sync_costs(g, d, std::vector<double>(d.size(), 0));
  const double length = model::longest_paths(g, d).length;
  CHECK(costs.length == length);
  for (std::uint32_t e = 0; e < r.edges.size(); ++e) {
    const model::Graph without = with_edges(r, [&](std::uint32_t x) { return x != e; });
    CHECK(costs.edges[e].cost == length - model::longest_paths(without_order(g, e), d).length);
    CHECK(costs.edges[e].is_redundant == leads_to(without, r.edges[e].from, r.edges[e].to));
  }
  for (std::uint32_t b = 0; b < r.barriers.size(); ++b) {
    const model::Graph without =
        with_edges(r, [&](std::uint32_t x) { return r.edges[x].barrier != b; });
    CHECK(costs.barriers[b].cost >= 0);
    CHECK(costs.barriers[b].cost <= length - model::longest_paths(without, d).length);
    CHECK(costs.barriers[b].edges == r.barriers[b].edges);
  }
}

}  // namespace

TEST_CASE(
    "sync costs: each edge costs what a new schedule saves in which only its nodes may overlap") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    check_against_removal(test::random_graph(seed, {.density = seed % 3 == 0 ? 0.5 : 0.15}), seed);
  }
}

TEST_CASE(
    "sync costs: a chain longer than one bit set makes exactly the edges that skip it redundant") {
  trace::GraphVersion r = test::random_graph(1, {.nodes = 1'300, .density = 0});
  for (std::uint32_t n = 1; n < 1'300; ++n) {
    if (n >= 3 && n % 100 == 0) r.edges.push_back({n - 3, n});
    if (n == 1'299) r.edges.push_back({0, n});
    r.edges.push_back({n - 1, n});
  }
  const model::SyncCosts costs = model::sync_costs(model::Graph(r), std::vector<double>(1'300, 1),
                                                   std::vector<double>(1'300, 0));
  for (std::size_t e = 0; e < r.edges.size(); ++e) {
    const bool is_jump = r.edges[e].to - r.edges[e].from > 1;
    CHECK(costs.edges[e].is_redundant == is_jump);
    CHECK(costs.edges[e].is_critical == !is_jump);
  }
  CHECK(costs.length == 1'300);
}

TEST_CASE("sync costs: a barrier without edges is redundant") {
  trace::GraphVersion r = test::random_graph(1, {.density = 0, .barriers = 1});
  CHECK(model::sync_costs(model::Graph(r), std::vector<double>(r.nodes.size(), 1),
                          std::vector<double>(r.nodes.size(), 0))
            .barriers[0]
            .is_redundant());
  r.edges.push_back({0, 1, trace::EdgeCause::Barrier, trace::Hazard::None, trace::kNone, 0, 0, 0});
  CHECK_FALSE(model::sync_costs(model::Graph(r), std::vector<double>(r.nodes.size(), 1),
                                std::vector<double>(r.nodes.size(), 0))
                  .barriers[0]
                  .is_redundant());
}

TEST_CASE("sync costs: an edge in the middle of a chain saves at most one of its nodes") {
  const model::Graph g(chain(20));
  const model::SyncCosts costs =
      model::sync_costs(g, std::vector<double>(20, 10), std::vector<double>(20, 0));
  CHECK(costs.length == 200);
  for (const model::EdgeCost& e : costs.edges) CHECK(e.cost == 10);
}

TEST_CASE("sync costs: nodes that fill the device gain nothing, partly filling ones less") {
  const model::Graph g(chain(3));
  const std::vector<double> durations{10, 10, 10};
  const model::SyncCosts full = model::sync_costs(g, durations, {1, 1, 1});
  CHECK(full.busy == 30);
  for (const model::EdgeCost& e : full.edges) CHECK(e.cost == 0);
  const model::SyncCosts part = model::sync_costs(g, durations, {1, 0.5, 0});
  CHECK(part.edges[0].cost == 5);  // 10 + 10 * 0.5 instead of 20
  CHECK(part.edges[1].cost == 10);
}

TEST_CASE("sync costs: a barrier of joins lets the nodes on both sides of it overlap") {
  trace::GraphVersion r = test::random_graph(1, {.nodes = 5, .density = 0, .barriers = 1});
  r.nodes[2].kind = trace::NodeKind::Join;
  r.edges.clear();
  for (const auto& [from, to] : {std::pair(0u, 2u), {1u, 2u}, {2u, 3u}, {2u, 4u}})
    r.edges.push_back(
        {from, to, trace::EdgeCause::Barrier, trace::Hazard::None, trace::kNone, 0, 0, 0});
  const model::SyncCosts costs =
      model::sync_costs(model::Graph(r), {10, 20, 0, 30, 5}, std::vector<double>(5, 0));
  CHECK(costs.length == 50);
  CHECK(costs.barriers[0].cost == 20);
}

TEST_CASE("sync costs: a kernel occupies the fraction of a GPU that its blocks fill") {
  trace::GraphVersion r = chain(3);
  r.nodes[0].grid[0] = 66;
  r.nodes[1].grid[0] = 100;
  r.nodes[1].grid[1] = 100;
  r.nodes[2].kind = trace::NodeKind::Copy;
  trace::Device gpu{0, "NVIDIA H200", "cuda:0", {}, 0, 132};
  const model::Graph g(r);
  CHECK(model::device_demand(g, &gpu) == std::vector<double>{0.5, 1, 0});
  CHECK(model::device_demand(g, nullptr) == std::vector<double>{0, 0, 0});
  gpu.selector = "host";
  gpu.multiprocessors = 4;
  CHECK(model::device_demand(g, &gpu) == std::vector<double>{0.25, 0.25, 0.25});
}
