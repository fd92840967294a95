// The toolbar of the timeline: replay navigation, row grouping, gap kinds with their share,
// critical path. Threads: the drawing thread's.
#pragma once

#include <optional>

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

struct TimelineAction {
  std::optional<ReplayChoice> go;
  bool newest = false;
};
// `scene` may be null. Modifies `options` and PanelContext::view.critical_path.
[[nodiscard]] TimelineAction draw_timeline_toolbar(PanelContext& context,
                                                   const TimelineScene* scene,
                                                   TimelineOptions& options);

}  // namespace reprise::viewer
