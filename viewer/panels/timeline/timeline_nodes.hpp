// Draws the nodes, gaps, labels, links and critical path of a replay in a timeline. Threads: the
// drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// Colour and name of a kind of gap.
[[nodiscard]] ImU32 gap_colour(const Theme& theme, model::GapKind kind);
[[nodiscard]] const char* gap_name(model::GapKind kind);

// Whether the critical path of the shown replay contains every node; it is then not marked.
[[nodiscard]] bool is_all_critical(const PanelContext& context);
[[nodiscard]] bool shows_critical_path(const PanelContext& context);
// Draws the number of busy lanes or workers; `max` fills the row.
void draw_timeline_active(TimelineDrawContext& dc, const TimelineScene& scene, std::uint32_t max);
void draw_timeline_gaps(TimelineDrawContext& dc, const TimelineScene& scene);
void draw_timeline_nodes(TimelineDrawContext& dc, const TimelineScene& scene);
// Draws lines between consecutive steps of the critical path. `path` must belong to the scene's
// replay.
void draw_timeline_path(const TimelineDrawContext& dc, const TimelineScene& scene,
                        const model::CriticalPath& path);
// Draws the spans of the labels.
void draw_timeline_labels_of(TimelineDrawContext& dc, const TimelineScene& scene);
// Draws links from the predecessors of the selected node and to its successors.
void draw_timeline_links(const TimelineDrawContext& dc, const TimelineScene& scene);

}  // namespace reprise::viewer
