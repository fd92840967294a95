#include <doctest/doctest.h>

#include <map>
#include <set>

#include "model/gaps.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;
using trace::Time;

TEST_CASE(
    "timeline rows: rows have no overlaps, nothing is dropped, and groups have no more rows than "
    "concurrent nodes") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed, {.nodes = 40, .density = 0.05, .lanes = 4}));
    trace::SampleBlock block = test::random_replay(g.record(), seed, 9);
    std::mt19937_64 random(seed);
    for (trace::Sample& s : block.samples) s.worker = static_cast<std::uint16_t>(random() % 3);
    const model::TimelineRows rows = model::timeline_rows(g, block, model::RowsBy::Worker);
    std::size_t timed = 0;
    for (const trace::Sample& s : block.samples) timed += s.started != 0 ? 1 : 0;
    CHECK(rows.items.size() == timed);
    std::map<std::uint32_t, Time> busy_until;
    std::map<std::uint32_t, std::size_t> levels, at_once;
    for (const model::TimelineItem& item : rows.items) {
      CHECK(busy_until[item.row] <= item.started);
      busy_until[item.row] = item.ended;
      const std::uint32_t group = rows.rows[item.row].group;
      CHECK(group == block.samples[item.sample].worker);
      std::size_t running = 0;
      for (const model::TimelineItem& other : rows.items) {
        running += rows.rows[other.row].group == group && other.started <= item.started &&
                           item.started < other.ended
                       ? 1
                       : 0;
      }
      at_once[group] = std::max(at_once[group], running);
    }
    for (const model::TimelineRow& row : rows.rows) CHECK(row.level == levels[row.group]++);
    CHECK(levels == at_once);
  }
}

TEST_CASE("timeline rows: a group is named for what its samples know of where they ran") {
  using trace::SampleSource;
  CHECK(model::row_group_name(model::RowsBy::Lane, SampleSource::Timestamp, 3) == "lane 3");
  CHECK(model::row_group_name(model::RowsBy::Worker, SampleSource::Host, 3) == "worker 3");
  CHECK(model::row_group_name(model::RowsBy::Worker, SampleSource::Cupti, 3) == "stream 3");
  CHECK(model::row_group_name(model::RowsBy::Worker, SampleSource::Timestamp, 3) ==
        "multiprocessor 2");
  CHECK(model::row_group_name(model::RowsBy::Worker, SampleSource::Timestamp, 0) == "other nodes");
}

TEST_CASE(
    "gaps: they fill each row between its items, and no part waits for a node that already ended") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed));
    const trace::SampleBlock block = test::random_replay(g.record(), seed, seed % 3 == 0 ? 6 : 0);
    const model::ReplayTimes times = model::replay_times(g, block);
    const model::TimelineRows rows = model::timeline_rows(g, block, model::RowsBy::Lane);
    const std::vector<model::Gap> gaps = model::gaps(g, rows, times);
    for (std::uint32_t row = 0; row < rows.rows.size(); ++row) {
      std::map<Time, Time> covered;  // start to end
      Time last = times.started;
      for (const model::TimelineItem& item : rows.items) {
        if (item.row == row) covered[item.started] = last = item.ended;
      }
      for (const model::Gap& gap : gaps) {
        if (gap.row == row) CHECK(covered.emplace(gap.started, gap.ended).second);
      }
      Time at = times.started;
      for (const auto& [started, ended] : covered) {
        CHECK(started == at);
        at = ended;
      }
      CHECK(at == last);
    }
    for (const model::Gap& gap : gaps) {
      Time needed = 0, any = 0;
      for (const model::Neighbour& p : g.predecessors(gap.node)) {
        const Time ended = times.nodes[p.node].ended;
        any = std::max(any, ended);
        if (g.record().edges[p.edge].cause != trace::EdgeCause::Lane)
          needed = std::max(needed, ended);
      }
      switch (gap.kind) {
        case model::GapKind::Predecessor: CHECK(gap.ended <= needed); break;
        case model::GapKind::FalseDependency:
          CHECK(gap.started >= needed);
          CHECK(gap.ended <= any);
          CHECK(g.record().edges[gap.edge].cause == trace::EdgeCause::Lane);
          break;
        case model::GapKind::LaunchBubble:
          CHECK(gap.started >= any);
          CHECK(gap.predecessor == trace::kNone);
          break;
      }
    }
  }
}
