// The wait chart of the sync panel: the nodes before and after the selected edge or barrier in the
// shown replay, and how long the later ones waited. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "panels/shared/panel_context.hpp"
#include "panels/sync/sync_view_model.hpp"

namespace reprise::viewer {

// Bars of the chart. Times are in ns since the start of the replay.
struct WaitTimes {
  struct Bar {
    std::uint32_t node = 0;
    double started = 0, ended = 0;
    int level = 0;          // sub-row for overlapping bars
    bool is_other = false;  // another predecessor of the first successor, not part of the selection
  };
  std::vector<Bar> before, after;
  int levels_before = 1, levels_after = 1;
  std::size_t omitted = 0;                   // nodes without samples or beyond the limits
  std::optional<std::uint32_t> last, first;  // last predecessor to end, first successor to start
  double released = 0, started = 0;          // end of `last`, start of `first`
  bool other_ended_last = false;             // another predecessor ended after `last`
};
[[nodiscard]] WaitTimes wait_times(const model::Graph& graph, const model::ReplayTimes& times,
                                   std::span<const std::uint32_t> edges);

// Fills `size` at ImGui's cursor. A click on a bar selects its node.
void draw_wait_chart(PanelContext& context, const WaitTimes& waits, ImVec2 size);

}  // namespace reprise::viewer
