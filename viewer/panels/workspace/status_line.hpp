// The status line at the bottom: the state of the trace (opening, loading, live, ended, failed),
// the selected range, and counts of the shown graph. Threads: drawing thread only.
#pragma once

#include <string>
#include <vector>

#include "model/trace_feed.hpp"
#include "panels/graph/graph_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct FeedText {
  std::string state;   // "loading, 42 %"
  std::string reason;  // details; may be empty
  ImU32 colour = 0;    // of the dot
};
[[nodiscard]] FeedText feed_text(const Theme& theme, const model::FeedStatus& status,
                                 const std::string& name);

struct StatusViewModel {
  const model::FeedStatus& status;
  const ReplaySummary* figures = nullptr;
  std::string error;  // WorkspaceViewModel::error()
  // See Workspace::set_program_output().
  std::vector<std::string> program_output = {};
  std::string program_end = {};
};

[[nodiscard]] float status_height(const Theme& theme);
// Returns true if the user clicked the output of the program.
[[nodiscard]] bool draw_status(PanelContext& context, const StatusViewModel& view_model);

}  // namespace reprise::viewer
