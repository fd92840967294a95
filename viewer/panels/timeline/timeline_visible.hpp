// The visible replays of a timeline whose nodes are drawn. Performs no drawing. Threads: pure
// functions.
#pragma once

#include <optional>
#include <vector>

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

}  // namespace reprise::viewer
