// The toolbar of the timeline: replay navigation, zoom, grouping and order of rows, colours, gap
// kinds with their share, critical path, gap list. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <optional>

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// The part of the recording that the timeline fits.
enum class TimelineFit : std::uint8_t { None, Replay, Recording };

struct TimelineAction {
  std::optional<ReplayChoice> go;
  bool newest = false;
  TimelineFit fit = TimelineFit::None;
};
// `scene` may be null; `fitted`: what the timeline shows at present. Modifies `options` and
// PanelContext::view.critical_path.
[[nodiscard]] TimelineAction draw_timeline_toolbar(PanelContext& context,
                                                   const TimelineScene* scene, TimelineFit fitted,
                                                   TimelineOptions& options);

}  // namespace reprise::viewer
