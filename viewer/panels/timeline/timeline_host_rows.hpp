// The timeline rows above the nodes: host ranges, launch calls, the idle time of each device, and
// the replays of each rank, queue and graph. Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

void draw_timeline_ranges(TimelineDrawContext& dc, const HostRows& host);

// The colour of the replays of a graph; the shown graph has the accent colour.
[[nodiscard]] ImU32 graph_colour(const TimelineDrawContext& dc, model::GraphKey graph);
[[nodiscard]] ImU32 idle_colour(const Theme& theme, model::IdleCause cause);
[[nodiscard]] const char* idle_name(model::IdleCause cause);

// The name of a graph, or "graph 3" if the document lacks it.
[[nodiscard]] std::string graph_name(const model::Document& document, model::GraphKey graph);

// Draws the rows of ranks, launches, devices, queues and graphs. `shown`: number of the replay
// whose nodes are drawn.
void draw_timeline_replays(TimelineDrawContext& dc, const model::Activity& activity,
                           std::uint64_t shown);

}  // namespace reprise::viewer
