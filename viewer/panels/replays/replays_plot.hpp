// One strip of the panel of replays: bars or runs of bars over the places of the list, an axis in
// units, lines at median and p99, and marks for what is sampled, far out, or without a time. Draws;
// keeps nothing and decides nothing. Threads: the drawing thread's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/sample_sources.hpp"
#include "panels/replays/replays_series.hpp"
#include "panels/replays/replays_view_model.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

struct ReplayPlot {
  const ReplaySeries& series;
  float top = 0, bottom = 0;                            // on the screen; the sides are the canvas's
  SeriesFigures figures = {};                           // lines, colours, outliers
  const Matches* matches = nullptr;                     // others are dimmed; null: none are
  std::optional<std::size_t> shown = {}, hovered = {};  // places
  const char* title = "";                               // at the upper left; empty: none
  // Where samples come from: those of stamps, which count in the stamps' own time, have a thinner
  // mark. Null: nobody knows.
  const model::SampleSources* sources = nullptr;
  const model::ListView<trace::Replay>* replays = nullptr;  // with sources
  // Which marks there are.
  enum class Marks : std::uint8_t { None, All } marks = Marks::All;
};
// What its top stands for, in ns.
double draw_replay_plot(const Theme& theme, const Canvas& canvas, const ReplayPlot& plot);

// The numbers of replays below a strip.
void draw_replay_numbers(const Theme& theme, const Canvas& canvas,
                         const model::ListView<trace::Replay>& replays, float y);
// A range of places: what lies beside it is dimmed, and its ends have handles.
void draw_replay_range(const Theme& theme, const Canvas& canvas, std::size_t first, std::size_t end,
                       float top, float bottom);

}  // namespace reprise::viewer
