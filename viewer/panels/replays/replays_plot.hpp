// One strip of the replays panel: bars over replay indices, a time axis, lines at median and p99,
// and marks for sampled replays, outliers and missing times. Stateless. Threads: drawing thread
// only.
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
  float top = 0, bottom = 0;         // screen y positions; the x positions are the canvas's
  SeriesSummary summary = {};        // selects lines, colours and outliers
  const Matches* matches = nullptr;  // other replays are dimmed; null: no replay is dimmed
  std::optional<std::size_t> shown = {}, hovered = {};  // indices
  const char* title = "";                               // at the upper left; empty: no title
  // The sources of samples. Samples from timestamps, which include the timestamp overhead, have a
  // thinner mark. Null: unknown.
  const model::SampleSources* sources = nullptr;
  const model::ListView<trace::Replay>* replays = nullptr;  // required with `sources`
  enum class Marks : std::uint8_t { None, All } marks = Marks::All;
};
void draw_replay_plot(const Theme& theme, const Canvas& canvas, const ReplayPlot& plot);

// Replay numbers below a strip.
void draw_replay_numbers(const Theme& theme, const Canvas& canvas,
                         const model::ListView<trace::Replay>& replays, float y);
// The selected range: dims the area outside [first, end) and draws handles at both ends.
void draw_replay_range(const Theme& theme, const Canvas& canvas, std::size_t first, std::size_t end,
                       float top, float bottom);

}  // namespace reprise::viewer
