// NodeTrend: the durations of one node in the sampled replays of a range, as points over replays.
// At most kTrendReplays replays are read, spread evenly over the range. Threads: node_trend() any,
// and it may read the disk; draw_trend() drawing thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kTrendReplays = 256;

struct NodeTrend {
  struct Point {
    std::uint64_t replay = 0;
    double nanoseconds = 0;
  };
  model::GraphKey graph;
  std::uint32_t node = 0;
  model::ReplayRange range;
  std::vector<Point> points;  // sorted by replay
};

// Throws TraceError.
[[nodiscard]] NodeTrend node_trend(const model::Document& document, model::GraphKey graph,
                                   std::uint32_t node, model::ReplayRange range);

// Fills the width of the window. Returns the replay that was clicked.
[[nodiscard]] std::optional<std::uint64_t> draw_trend(const Theme& theme, const NodeTrend& trend,
                                                      std::optional<std::uint64_t> marked,
                                                      float height);

}  // namespace reprise::viewer
