// The rows of a timeline above the nodes: host ranges, the calls of launch, and the replays of each
// graph. Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

void draw_timeline_ranges(TimelineDrawContext& sight, const HostRows& host);

// Replays that a timeline has in sight, of one graph.
struct ReplaysInSight {
  model::GraphKey graph;
  model::ListView<trace::Replay> replays;
  std::size_t first = 0, end = 0;
};
// `shown`: the number of the replay whose nodes are shown, of the shown graph.
void draw_timeline_replays(TimelineDrawContext& sight, const std::vector<ReplaysInSight>& all,
                           std::uint64_t shown);

}  // namespace reprise::viewer
