// The strip of the replays panel that compares ranks: a line per rank and a band of the others.
// Stateless. Threads: drawing thread only.
#pragma once

#include <optional>

#include "panels/replays/replays_ranks.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

struct RankPlot {
  const RankSeries& series;
  float top = 0, bottom = 0;  // screen y positions; the x positions are the canvas's
  std::optional<std::size_t> shown = {}, hovered = {};  // indices
};
void draw_rank_plot(const Theme& theme, const Canvas& canvas, const RankPlot& plot);
// Fields of a tooltip: the ranks with the shortest and the longest time of a replay.
void draw_rank_fields(const Theme& theme, const model::Document& document, const RankSeries& series,
                      std::size_t index, float value_x);

}  // namespace reprise::viewer
