#include "model/gaps.hpp"

#include <algorithm>

namespace reprise::model {

using trace::Time;

namespace {

bool is_false_dependency(trace::EdgeCause cause) {
  return cause == trace::EdgeCause::Lane || cause == trace::EdgeCause::EntryExit;
}

// The predecessor of one category (required or imposed) that ended last.
struct LastPredecessor {
  Time ended = 0;
  Neighbour neighbour{trace::kNone, trace::kNone};
};

}  // namespace

std::vector<Gap> gaps(const Graph& graph, const TimelineRows& rows, const ReplayTimes& times) {
  std::vector<Gap> all;
  std::vector<Time> free_since(rows.rows.size(), times.started);
  for (const TimelineItem& item : rows.items) {
    Time at = free_since[item.row];
    free_since[item.row] = item.ended;
    // gaps of body nodes belong to the node that runs the body
    if (at >= item.started || graph.parent(item.node) != trace::kNone) continue;
    LastPredecessor needed, imposed;
    for (const Neighbour& p : graph.predecessors(item.node)) {
      LastPredecessor& last =
          is_false_dependency(graph.record().edges[p.edge].cause) ? imposed : needed;
      if (const Time ended = times.nodes[p.node].ended;
          last.neighbour.node == trace::kNone || ended > last.ended)
        last = {ended, p};
    }
    const auto append = [&](GapKind kind, Time until, Neighbour neighbour) {
      until = std::min(until, item.started);
      if (until <= at) return;
      all.push_back({kind, item.row, at, until, item.node, neighbour.node, neighbour.edge});
      at = until;
    };
    append(GapKind::Predecessor, needed.ended, needed.neighbour);
    append(GapKind::FalseDependency, imposed.ended, imposed.neighbour);
    append(GapKind::LaunchBubble, item.started, {trace::kNone, trace::kNone});
  }
  std::sort(all.begin(), all.end(), [](const Gap& a, const Gap& b) {
    return a.row != b.row ? a.row < b.row : a.started < b.started;
  });
  return all;
}

}  // namespace reprise::model
