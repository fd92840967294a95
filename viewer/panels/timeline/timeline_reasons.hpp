// The message that a timeline without nodes shows: reason and remedy. Threads: pure functions.
#pragma once

#include <string>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct TimelineReason {
  std::string title, hint;
  bool is_busy = false;  // the nodes are being loaded
};
[[nodiscard]] TimelineReason missing_nodes_reason(const PanelContext& context);

}  // namespace reprise::viewer
