// StatusLine: below everything: how the trace itself is doing (opening, loading, live, ended,
// failed), what is chosen, and how much there is. Threads: the drawing thread's.
#pragma once

#include <string>

#include "model/trace_feed.hpp"
#include "panels/graph/graph_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct FeedText {
  std::string what;    // "loading, 42 %"
  std::string reason;  // empty: nothing to explain
  ImU32 colour = 0;    // of its dot
};
[[nodiscard]] FeedText feed_text(const Theme& theme, const model::FeedStatus& status,
                                 const std::string& name);

struct StatusViewModel {
  const model::FeedStatus& status;
  const ReplayFigures* figures = nullptr;
  std::string error;  // of what is made in the background
};

[[nodiscard]] float status_height(const Theme& theme);
void draw_status(PanelContext& context, const StatusViewModel& view_model);

}  // namespace reprise::viewer
