#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "model/critical_path.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;

namespace {

// Enumerates every path through the graph.
void each_path(const model::Graph& g,
               const std::function<void(const std::vector<std::uint32_t>&)>& visit) {
  std::vector<std::uint32_t> path;
  const std::function<void(std::uint32_t)> go = [&](std::uint32_t node) {
    path.push_back(node);
    if (g.successors(node).empty()) visit(path);
    for (const model::Neighbour& s : g.successors(node)) go(s.node);
    path.pop_back();
  };
  for (std::uint32_t n = 0; n < g.node_count(); ++n) {
    if (g.predecessors(n).empty()) go(n);
  }
}

}  // namespace

TEST_CASE("critical path: length and slack equal those of all paths through random graphs") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed));
    const std::vector<double> d =
        model::durations(model::replay_times(g, test::random_replay(g.record(), seed, 5)));
    double longest = 0;
    std::vector<double> through(g.node_count(), 0);
    each_path(g, [&](const std::vector<std::uint32_t>& path) {
      double length = 0;
      for (const std::uint32_t n : path) length += d[n];
      longest = std::max(longest, length);
      for (const std::uint32_t n : path) through[n] = std::max(through[n], length);
    });
    const model::LongestPaths paths = model::longest_paths(g, d);
    CHECK(paths.length == longest);
    for (std::uint32_t n = 0; n < g.node_count(); ++n)
      CHECK(paths.slack(n, d) == longest - through[n]);
    const model::CriticalPath path = model::critical_path(g, d);
    CHECK(path.work == longest);
    CHECK(path.wait == 0);
    for (std::size_t i = 1; i < path.steps.size(); ++i) {
      const trace::Edge& e = g.record().edges[path.steps[i].edge];
      CHECK((e.from == path.steps[i - 1].node && e.to == path.steps[i].node));
    }
  }
}

TEST_CASE(
    "critical path: the measured path covers a replay from start to end, each step after its last "
    "predecessor") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed));
    const model::ReplayTimes times =
        model::replay_times(g, test::random_replay(g.record(), seed, seed % 2 == 0 ? 5 : 0));
    const model::CriticalPath path = model::critical_path(g, times);
    REQUIRE_FALSE(path.steps.empty());
    CHECK(path.work + path.wait == static_cast<double>(times.ended - times.started));
    CHECK(times.nodes[path.steps.back().node].ended == times.ended);
    for (std::size_t i = 1; i < path.steps.size(); ++i) {
      for (const model::Neighbour& p : g.predecessors(path.steps[i].node)) {
        CHECK(times.nodes[p.node].ended <= times.nodes[path.steps[i - 1].node].ended);
      }
    }
    CHECK(g.predecessors(path.steps.front().node).empty());
  }
}

TEST_CASE(
    "replay times: a node that ran several times spans all runs, one without a time follows its "
    "predecessors") {
  trace::GraphVersion r;
  r.strings = {""};
  r.labels = {{}};
  r.nodes.resize(3);
  r.edges.resize(2);
  r.edges[0].to = 1;
  r.edges[1].from = 1;
  r.edges[1].to = 2;
  const model::Graph g(r);
  const model::ReplayTimes t = model::replay_times(g, {0,
                                                       0,
                                                       0,
                                                       1,
                                                       trace::SampleSource::Host,
                                                       {{0, 0, 100, 10, 0},
                                                        {0, 1, 150, 20, 0},
                                                        {1, 0, 0, 0, 0},
                                                        {2, 0, 200, 5, 0},
                                                        {9, 0, 1, 1, 0}}});
  CHECK(t.started == 100);
  CHECK(t.ended == 205);
  CHECK(t.nodes[0].started == 100);
  CHECK(t.nodes[0].ended == 170);
  CHECK_FALSE(t.nodes[1].measured);
  CHECK(t.nodes[1].started == 170);
  CHECK(t.nodes[1].ended == 170);
  CHECK(model::durations(t) == std::vector<double>{70, 0, 5});
}
