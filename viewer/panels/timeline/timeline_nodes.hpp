// The nodes of a replay in a timeline, why their rows are empty where they are, and what leads from
// one to the next. Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// Colours of what a gap was, on a row.
[[nodiscard]] ImU32 gap_colour(const Theme& theme, model::GapKind kind);
[[nodiscard]] const char* gap_name(model::GapKind kind);

void draw_timeline_gaps(TimelineDrawContext& sight, const TimelineScene& scene);
void draw_timeline_nodes(TimelineDrawContext& sight, const TimelineScene& scene);
// The chain of nodes that decided how long the replay took: a line from each to the next. `path` is
// of the scene's replay.
void draw_timeline_path(const TimelineDrawContext& sight, const TimelineScene& scene,
                        const model::CriticalPath& path);
// When the nodes of each label ran.
void draw_timeline_labels_of(TimelineDrawContext& sight, const TimelineScene& scene);
// From the predecessors of the selected node to it, and from it to its successors.
void draw_timeline_links(const TimelineDrawContext& sight, const TimelineScene& scene);

}  // namespace reprise::viewer
