#include "model/gaps.hpp"

#include <algorithm>

namespace reprise::model {

using trace::Time;

namespace {

bool is_false_dependency(trace::EdgeCause cause) {
  return cause == trace::EdgeCause::Lane || cause == trace::EdgeCause::EntryExit;
}

// The predecessor that ended last, of those that are needed or of those that are not.
struct Last {
  Time ended = 0;
  Neighbour who{trace::kNone, trace::kNone};
};

}  // namespace

std::vector<Gap> gaps(const Graph& graph, const TimelineRows& rows, const ReplayTimes& times) {
  std::vector<Gap> all;
  std::vector<Time> free_since(rows.rows.size(), times.began);
  for (const TimelineItem& item : rows.items) {
    Time at = free_since[item.row];
    free_since[item.row] = item.ended;
    if (at >= item.started || graph.parent(item.node) != trace::kNone)
      continue;  // before what a node runs stands that node
    Last needed, imposed;
    for (const Neighbour& p : graph.predecessors(item.node)) {
      Last& last = is_false_dependency(graph.record().edges[p.edge].cause) ? imposed : needed;
      if (const Time ended = times.nodes[p.node].ended;
          last.who.node == trace::kNone || ended > last.ended)
        last = {ended, p};
    }
    const auto put = [&](GapKind kind, Time until, Neighbour who) {
      until = std::min(until, item.started);
      if (until <= at) return;
      all.push_back({kind, item.row, at, until, item.node, who.node, who.edge});
      at = until;
    };
    put(GapKind::Predecessor, needed.ended, needed.who);
    put(GapKind::FalseDependency, imposed.ended, imposed.who);
    put(GapKind::LaunchBubble, item.started, {trace::kNone, trace::kNone});
  }
  std::sort(all.begin(), all.end(), [](const Gap& a, const Gap& b) {
    return a.row != b.row ? a.row < b.row : a.began < b.began;
  });
  return all;
}

}  // namespace reprise::model
