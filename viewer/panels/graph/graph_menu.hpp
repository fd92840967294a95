// GraphMenu: the context menu of a graph. Performs no action itself; draw() returns the chosen
// action. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/graph/graph_hit.hpp"
#include "panels/graph/graph_toolbar.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct GraphMenuAction {
  enum Kind : std::uint8_t {
    Nothing,
    Fit,
    Focus,
    ToggleCriticalPath,
    Collapse,
    Expand,
    CollapseAll,
    ExpandAll,
    ToggleFrameRate,
    SaveSvg
  } kind = Nothing;
  std::uint32_t box = trace::kNone;    // for Focus and Expand
  std::uint32_t label = trace::kNone;  // for Collapse
};

class GraphMenu {
 public:
  void open(const GraphHit& hit);
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  // Drops the hit object. Call when another scene is shown.
  void forget() { hit_ = {}; }
  // Call in every frame, even while closed.
  [[nodiscard]] GraphMenuAction draw(PanelContext& context, const GraphScene& scene,
                                     const GraphOptions& options);

 private:
  GraphHit hit_;
  bool is_open_ = false, opening_ = false;
};

}  // namespace reprise::viewer
