// The picture below the tables of the sync panel: the nodes before and after the selected edge or
// barrier in the replay that is shown, with how long the later ones waited. Threads: the drawing
// thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "panels/shared/panel_context.hpp"
#include "panels/sync/sync_view_model.hpp"

namespace reprise::viewer {

// How the ends lay in time, in ns after the replay's begin.
struct WaitTimes {
  struct Bar {
    std::uint32_t node = 0;
    double began = 0, ended = 0;
    int level = 0;          // of bars that overlap
    bool is_other = false;  // not an end of what is selected: another predecessor of the later node
  };
  std::vector<Bar> before, after;
  int levels_before = 1, levels_after = 1;
  std::size_t left_out = 0;  // nodes without a time, or too many to draw
  std::optional<std::uint32_t> last,
      first;  // the node that ended last before, and the one that began first after
  double released = 0, began = 0;  // when they did
  bool is_overtaken = false;       // another predecessor ended later still
};
[[nodiscard]] WaitTimes wait_times(const model::Graph& graph, const model::ReplayTimes& times,
                                   std::span<const std::uint32_t> edges);

// Fills `size` at ImGui's cursor. A click on a bar selects its node.
void draw_wait_picture(PanelContext& context, const WaitTimes& waits, ImVec2 size);

}  // namespace reprise::viewer
