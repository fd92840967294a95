// A table of quantiles of device time, launch call and launch latency, and the replays as CSV.
// Threads: drawing thread only.
#pragma once

#include <string>

#include "model/document.hpp"
#include "panels/replays/replays_view_model.hpp"
#include "panels/shared/theme.hpp"
#include "panels/shared/view_state.hpp"

namespace reprise::viewer {

void draw_replay_table(const Theme& theme, ViewState& view, const RangeViewModel& view_model);
// One line per replay of the range: number, times and gaps in ns, the launch from the start of the
// trace.
[[nodiscard]] std::string replays_csv(const model::Document& document,
                                      const model::ListView<trace::Replay>& replays,
                                      const model::ReplayRange& range);

}  // namespace reprise::viewer
