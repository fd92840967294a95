// Why a row of a timeline was empty: each stretch before an item, from the end of the one before it
// in its row or from the replay's begin, in at most three parts that follow each other: waiting for
// a predecessor that it needs, then for one that only a lane's or the frame's edge puts before it
// (a false dependency), then a launch bubble, in which it could have run. Threads: a pure function.
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
  trace::Time began = 0, ended = 0;
  std::uint32_t node = 0;                    // that came late
  std::uint32_t predecessor = trace::kNone;  // that it waited for; kNone in a launch bubble
  std::uint32_t edge = trace::kNone;
};

// By row, then time. `rows` and `times` are of the same replay of `graph`.
[[nodiscard]] std::vector<Gap> gaps(const Graph& graph, const TimelineRows& rows,
                                    const ReplayTimes& times);

}  // namespace reprise::model
