// The bar above the timeline: which replay, by what rows, what the colours of gaps mean and how
// much of each there is. Threads: the drawing thread's.
#pragma once

#include <optional>

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

struct TimelineAction {
  std::optional<ReplayChoice> go;
  bool newest = false;
};
// `scene` may be null. Changes `options` and Frame::view's critical_path.
[[nodiscard]] TimelineAction draw_timeline_toolbar(PanelContext& context,
                                                   const TimelineScene* scene,
                                                   TimelineOptions& options);

}  // namespace reprise::viewer
