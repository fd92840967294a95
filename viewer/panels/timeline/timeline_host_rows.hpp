// The timeline rows above the nodes: host ranges, launch calls and the replays of each graph.
// Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

void draw_timeline_ranges(TimelineDrawContext& dc, const HostRows& host);

// The visible replays of one graph.
struct VisibleReplays {
  model::GraphKey graph;
  model::ListView<trace::Replay> replays;
  std::size_t first = 0, end = 0;  // indices in `replays`
};
// `shown`: number of the replay whose nodes are drawn.
void draw_timeline_replays(TimelineDrawContext& dc, const std::vector<VisibleReplays>& all,
                           std::uint64_t shown);

}  // namespace reprise::viewer
