// A table of quantiles of device time, launch call and launch latency, and the replays as CSV.
// Threads: drawing thread only.
#pragma once

#include <string>

#include "model/document.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

void draw_replay_table(const Theme& theme, ViewState& view, const ReplaySummary& summary);
// One line per replay of the range: number, times and gaps in ns, the launch from the start of the
// trace.
[[nodiscard]] std::string replays_csv(const model::Document& document,
                                      const model::ListView<trace::Replay>& replays,
                                      const model::ReplayRange& range);

}  // namespace reprise::viewer
