// The charts of the Ranks panel: all executions of a collective over the replays, and the ranks of
// one execution. Threads: drawing thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "panels/ranks/ranks_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kMaxRankBars = 16;

struct RanksChart {
  const model::Document& document;
  const model::CollectiveSummary& collective;
  const model::CollectiveExecutions& all;
  std::size_t shown = 0;      // index in all.executions
  trace::Time max_error = 0;  // see model::RankAnalysis
};

// Swatches of the bars at the right end of a line, where there is space.
void draw_bar_legend(const Theme& theme, float left, float right, float y);
// The time from the first to the last arrival of every execution. Fills `size` at ImGui's cursor.
// Returns the execution that was clicked.
[[nodiscard]] std::optional<std::size_t> draw_executions(PanelContext& context,
                                                         const RanksChart& chart, ImVec2 size);
// Waiting and transfer of each rank in the shown execution. A click shows the graph of the rank.
// Returns the session that was clicked.
[[nodiscard]] std::optional<std::uint32_t> draw_rank_bars(PanelContext& context,
                                                          const RanksChart& chart,
                                                          std::uint32_t selected_session,
                                                          ImVec2 size);

}  // namespace reprise::viewer
