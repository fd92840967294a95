#include <doctest/doctest.h>

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
  const model::SyncCosts costs = model::sync_costs(g, d);
  const double length = model::longest_paths(g, d).length;
  CHECK(costs.length == length);
  for (std::uint32_t e = 0; e < r.edges.size(); ++e) {
    const model::Graph without = with_edges(r, [&](std::uint32_t x) { return x != e; });
    CHECK(costs.edges[e].cost == length - model::longest_paths(without, d).length);
    CHECK(costs.edges[e].is_redundant == leads_to(without, r.edges[e].from, r.edges[e].to));
  }
  for (std::uint32_t b = 0; b < r.barriers.size(); ++b) {
    const model::Graph without =
        with_edges(r, [&](std::uint32_t x) { return r.edges[x].barrier != b; });
    CHECK(costs.barriers[b].cost == length - model::longest_paths(without, d).length);
    CHECK(costs.barriers[b].edges == r.barriers[b].edges);
  }
}

}  // namespace

TEST_CASE("sync costs: each edge and barrier costs what the longest path loses without it") {
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
  const model::SyncCosts costs = model::sync_costs(model::Graph(r), std::vector<double>(1'300, 1));
  for (std::size_t e = 0; e < r.edges.size(); ++e) {
    const bool is_jump = r.edges[e].to - r.edges[e].from > 1;
    CHECK(costs.edges[e].is_redundant == is_jump);
    CHECK(costs.edges[e].is_critical == !is_jump);
  }
  CHECK(costs.length == 1'300);
}

TEST_CASE("sync costs: a barrier without edges is redundant") {
  trace::GraphVersion r = test::random_graph(1, {.density = 0, .barriers = 1});
  CHECK(model::sync_costs(model::Graph(r), std::vector<double>(r.nodes.size(), 1))
            .barriers[0]
            .is_redundant());
  r.edges.push_back({0, 1, trace::EdgeCause::Barrier, trace::Hazard::None, trace::kNone, 0, 0, 0});
  CHECK_FALSE(model::sync_costs(model::Graph(r), std::vector<double>(r.nodes.size(), 1))
                  .barriers[0]
                  .is_redundant());
}
