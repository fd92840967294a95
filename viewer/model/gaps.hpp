// Explains the gaps in timeline rows. Each gap before an item (since the previous item of its row
// or the start of the replay) splits into up to three consecutive parts: waiting for a required
// predecessor, waiting for a predecessor that only a lane edge or an entry/exit edge imposes (a
// false dependency), and a launch bubble in which the node was ready. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "model/replay_times.hpp"
#include "model/timeline_rows.hpp"

namespace reprise::model {

enum class GapKind : std::uint8_t { Predecessor, FalseDependency, LaunchBubble };

struct Gap {
  GapKind kind = GapKind::LaunchBubble;
  std::uint32_t row = 0;
  trace::Time started = 0, ended = 0;
  std::uint32_t node = 0;                    // the delayed node
  std::uint32_t predecessor = trace::kNone;  // the awaited node; kNone for a launch bubble
  std::uint32_t edge = trace::kNone;
};

// Ordered by row, then time. `rows` and `times` describe the same replay of `graph`.
[[nodiscard]] std::vector<Gap> gaps(const Graph& graph, const TimelineRows& rows,
                                    const ReplayTimes& times);

}  // namespace reprise::model
