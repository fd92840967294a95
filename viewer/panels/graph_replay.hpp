// The times of one replay in the form of those over a range, so that a picture can show either. Threads: a pure function.
#pragma once

#include "panels/frame.hpp"

namespace reprise::viewer {

// One sample each for the nodes that were measured; slack and path are those of the replay.
[[nodiscard]] GraphFacts facts_of_replay(const model::Graph& graph, const ReplayFacts& replay);

}  // namespace reprise::viewer
