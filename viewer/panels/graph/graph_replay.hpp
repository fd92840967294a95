// The times of one replay in the form of those over a range, so that a picture can show either.
// Threads: a pure function.
#pragma once

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// One sample each for the nodes that were measured; slack and path are those of the replay.
[[nodiscard]] GraphViewModel view_model_of_replay(const model::Graph& graph,
                                                  const ReplayViewModel& replay);

}  // namespace reprise::viewer
