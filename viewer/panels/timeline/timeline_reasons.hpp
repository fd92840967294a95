// Why a timeline has no nodes to show, and what could be done about it. Threads: pure functions.
#pragma once

#include <string>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct TimelineReason {
  std::string what, hint;
  bool is_busy = false;  // it comes
};
[[nodiscard]] TimelineReason why_no_nodes(const PanelContext& context);

}  // namespace reprise::viewer
