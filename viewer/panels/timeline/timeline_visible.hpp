// The visible replays of a timeline whose nodes are drawn, and the part that shows a replay.
// Performs no drawing. Threads: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "panels/timeline/timeline_draw_context.hpp"
#include "panels/timeline/timeline_layout.hpp"

namespace reprise::viewer {

struct VisibleTimelineDesc {
  const model::Document& document;
  const TimelineLayout& layout;
  const TimelineRanks& ranks;
  std::optional<TimelineData::ReplayKey> shown = {};  // its nodes are drawn separately
  trace::Time from = 0, to = 0;
  double min_length = 0;  // ns; nodes of shorter replays are not drawn
};
// Sampled replays of graphs with rows of nodes: the shown replay on the other ranks, and all others
// unless they are too many.
[[nodiscard]] std::vector<trace::Replay> replays_with_nodes(const VisibleTimelineDesc& desc);

// The known times of a replay and its nodes, never empty. `scene`: of the replay, or null.
[[nodiscard]] TimelineSpan span_of_replay(const trace::Replay& replay, const TimelineScene* scene);
// The part that shows the replay, which has the times `span`: with its launch if that is near, and
// with the same replay on all ranks if they are known.
[[nodiscard]] TimelineSpan fitted_span(const trace::Replay& replay, TimelineSpan span,
                                       const RankReplay& on_ranks);

}  // namespace reprise::viewer
