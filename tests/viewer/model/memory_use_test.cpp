#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/memory_use.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;
using trace::Time;

namespace {

// Reference: checks each buffer at every relevant time.
void check_moments(const model::MemoryUse& use) {
  std::uint64_t peak = 0, naive = 0;
  for (const model::BufferSpan& s : use.spans) naive += s.bytes;
  for (std::size_t i = 0; i < use.steps.size(); ++i) {
    if (i > 0) CHECK(use.steps[i - 1].at < use.steps[i].at);
    std::uint64_t live = 0;
    std::vector<std::uint32_t> who;
    for (const model::BufferSpan& s : use.spans) {
      if (s.started > use.steps[i].at || s.ended <= use.steps[i].at) continue;
      live += s.bytes;
      who.push_back(s.buffer);
    }
    CHECK(use.steps[i].bytes == live);
    peak = std::max(peak, live);
    if (use.steps[i].at == use.peak_at) {
      std::vector<std::uint32_t> at_peak = use.live_at_peak;
      std::sort(at_peak.begin(), at_peak.end());
      CHECK(at_peak == who);
      CHECK(live == use.peak_bytes);
    }
  }
  CHECK(use.peak_bytes == peak);
  CHECK(use.naive_bytes == naive);
  if (!use.steps.empty()) CHECK(use.steps.back().bytes == 0);
  CHECK(use.waste_bytes == (use.slab_bytes > peak ? use.slab_bytes - peak : 0));
}

// Keeps the accesses to each buffer in three consecutive nodes only, so that some buffers are
// ordered.
trace::GraphVersion with_short_lives(trace::GraphVersion g) {
  const std::vector<trace::NodeAccess> all = std::exchange(g.accesses, {});
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    trace::Node& node = g.nodes[n];
    const std::uint32_t first = std::exchange(node.first_access,
                                              static_cast<std::uint32_t>(g.accesses.size())),
                        count = std::exchange(node.access_count, 0);
    for (std::uint32_t i = first; i < first + count; ++i) {
      const std::size_t start = all[i].buffer * 5 % g.nodes.size();
      if (n < start || n > start + 2) continue;
      g.accesses.push_back(all[i]);
      ++node.access_count;
    }
  }
  return g;
}

// Reference: the heaviest set of transients without an ordered pair, by trying all sets.
std::uint64_t heaviest_by_trying(const model::Graph& g, const std::vector<std::uint32_t>& buffers) {
  const std::uint32_t nodes = g.own_node_count();
  std::vector<std::vector<bool>> before(nodes, std::vector<bool>(nodes, false));
  for (std::uint32_t n = nodes; n-- > 0;) {
    for (const model::Neighbour next : g.successors(n)) {
      before[n][next.node] = true;
      for (std::uint32_t m = 0; m < nodes; ++m) before[n][m] = before[n][m] || before[next.node][m];
    }
  }
  const auto ordered = [&](std::uint32_t a, std::uint32_t b) {
    for (const model::BufferUse u : g.uses(a)) {
      for (const model::BufferUse v : g.uses(b)) {
        if (!before[g.own_node_of(u.node)][g.own_node_of(v.node)]) return false;
      }
    }
    return true;
  };
  std::uint64_t most = 0;
  for (std::uint32_t set = 0; set < 1u << buffers.size(); ++set) {
    std::uint64_t bytes = 0;
    bool free = true;
    for (std::uint32_t i = 0; i < buffers.size() && free; ++i) {
      if ((set >> i & 1) == 0) continue;
      bytes += g.record().buffers[buffers[i]].bytes;
      for (std::uint32_t j = 0; j < i && free; ++j)
        free = (set >> j & 1) == 0 ||
               (!ordered(buffers[i], buffers[j]) && !ordered(buffers[j], buffers[i]));
    }
    if (free) most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

TEST_CASE(
    "memory use: the lower bound and the saving of each of its buffers are those of a search") {
  std::uint32_t wider = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(with_short_lives(test::random_graph(seed, {.buffers = 12})));
    const model::MemoryUse use = model::memory_by_node_order(g);
    std::vector<std::uint32_t> buffers;
    for (const model::BufferSpan& s : use.spans) buffers.push_back(s.buffer);
    const model::LowerBound bound = model::lower_bound(g);
    CHECK(bound.is_exact);
    CHECK(bound.bytes == heaviest_by_trying(g, buffers));
    CHECK(bound.bytes >= use.peak_bytes);
    wider += bound.bytes > use.peak_bytes ? 1 : 0;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bound.items.size(); ++i) {
      const model::LowerBound::Item& item = bound.items[i];
      sum += g.record().buffers[item.buffer].bytes;
      std::vector<std::uint32_t> others = buffers;
      std::erase(others, item.buffer);
      CHECK(item.is_known);
      CHECK(bound.bytes - item.saves == heaviest_by_trying(g, others));
      if (i > 0)
        CHECK(g.record().buffers[bound.items[i - 1].buffer].bytes >=
              g.record().buffers[item.buffer].bytes);
    }
    CHECK(sum == bound.bytes);
  }
  CHECK(wider > 0);  // the graphs are not all chains
}

TEST_CASE("memory use: the lower bound of a very large graph is the peak of the node order") {
  trace::GraphVersion record;
  record.graph = record.version = 1;
  record.strings = {""};
  record.labels = {{}};
  for (std::uint32_t b = 0; b < 4097; ++b) {
    record.buffers.push_back({0, trace::BufferKind::Transient, trace::kNone, trace::kNone, 16, 0});
    trace::Node node;
    node.first_access = b;
    node.access_count = 1;
    record.accesses.push_back({b, trace::Access::Write, 0, 0, 16});
    record.nodes.push_back(node);
  }
  const model::LowerBound bound = model::lower_bound(model::Graph(std::move(record)));
  CHECK_FALSE(bound.is_exact);
  CHECK(bound.bytes == 16);
  REQUIRE(bound.items.size() == 1);
  CHECK_FALSE(bound.items[0].is_known);
}

TEST_CASE("memory use: spans match the buffers' accesses, and every step has the live bytes") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed, {.buffers = 9}));
    const model::ReplayTimes times =
        model::replay_times(g, test::random_replay(g.record(), seed, 7));
    const model::MemoryUse by_schedule = model::memory_by_node_order(g),
                           by_time = model::memory_by_time(g, times);
    check_moments(by_schedule);
    check_moments(by_time);
    REQUIRE(by_schedule.spans.size() == by_time.spans.size());
    for (std::size_t i = 0; i < by_time.spans.size(); ++i) {
      const std::uint32_t b = by_time.spans[i].buffer;
      CHECK(g.record().buffers[b].kind == trace::BufferKind::Transient);
      for (std::uint32_t n = 0; n < g.node_count(); ++n) {
        for (const trace::NodeAccess& a : g.accesses(n)) {
          if (a.buffer != b) continue;
          CHECK((by_schedule.spans[i].started <= n && n < by_schedule.spans[i].ended));
          CHECK((by_time.spans[i].started <= times.nodes[n].started &&
                 times.nodes[n].ended <= by_time.spans[i].ended));
        }
      }
    }
  }
}

TEST_CASE("memory use: alias groups are the connected components of overlapping ranges") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed, {.buffers = 7}));
    const auto& buffers = g.record().buffers;
    // Each buffer takes the smallest connected number until a fixed point.
    std::vector<std::uint32_t> group(buffers.size());
    for (std::uint32_t b = 0; b < group.size(); ++b) group[b] = b;
    for (std::size_t round = 0; round < buffers.size(); ++round) {
      for (std::uint32_t a = 0; a < buffers.size(); ++a) {
        for (std::uint32_t b = 0; b < buffers.size(); ++b) {
          if (buffers[a].kind != trace::BufferKind::Transient ||
              buffers[b].kind != trace::BufferKind::Transient)
            continue;
          if (buffers[a].offset < buffers[b].offset + buffers[b].bytes &&
              buffers[b].offset < buffers[a].offset + buffers[a].bytes) {
            group[a] = group[b] = std::min(group[a], group[b]);
          }
        }
      }
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> expected;
    for (std::uint32_t b = 0; b < group.size(); ++b) expected[group[b]].push_back(b);
    std::vector<std::vector<std::uint32_t>> groups;
    for (const auto& [first, members] : expected) {
      if (members.size() > 1) groups.push_back(members);
    }
    CHECK(model::alias_groups(g) == groups);
  }
}

TEST_CASE("memory use: the size without sharing is the planned one") {
  trace::GraphVersion record = test::random_graph(1);
  record.naive_bytes = 123'456;
  CHECK(model::memory_by_node_order(model::Graph(record)).naive_bytes == 123'456);
}
