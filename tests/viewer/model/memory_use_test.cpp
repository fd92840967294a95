#include <doctest/doctest.h>

#include <algorithm>
#include <map>

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

}  // namespace

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
