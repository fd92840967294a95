// GraphMenu: what a click with the right button on a graph offers. Acts on nothing: returns what
// was chosen. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/graph/graph_hit.hpp"
#include "panels/graph/graph_toolbar.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct GraphMenuWish {
  enum What : std::uint8_t {
    Nothing,
    Fit,
    Focus,
    Mark,
    Collapse,
    Expand,
    CollapseAll,
    ExpandAll
  } what = Nothing;
  std::uint32_t box = trace::kNone;    // of Focus
  std::uint32_t label = trace::kNone;  // of Collapse and Expand
};

class GraphMenu {
 public:
  void open(const GraphHit& hit);
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  // What was below the mouse is there no more: another scene is shown.
  void forget() { hit_ = {}; }
  // Each frame, open or not.
  [[nodiscard]] GraphMenuWish draw(const PanelContext& context, const GraphScene& scene,
                                   const GraphOptions& options);

 private:
  GraphHit hit_;
  bool is_open_ = false, opening_ = false;
};

}  // namespace reprise::viewer
