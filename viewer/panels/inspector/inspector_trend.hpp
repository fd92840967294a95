// NodeTrend: how long one node took in each of the sampled replays of a range, at most
// kTrendReplays of them, spread evenly: as dots over the replays, and as a histogram where the
// whole trace's would show other replays too. Threads: node_trend() any, as it may read the disk;
// the rest is the drawing thread's.
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
  std::size_t first = 0, count = 0;  // the range
  std::vector<Point> points;         // by replay
  detail::CompactDurationHistogram times;
};

// Throws TraceError.
[[nodiscard]] NodeTrend node_trend(const model::Document& document, model::GraphKey graph,
                                   std::uint32_t node, model::ReplayRange range);

// As wide as the window. The replay under the mouse, if it was clicked.
[[nodiscard]] std::optional<std::uint64_t> draw_trend(const Theme& theme, const NodeTrend& trend,
                                                      std::optional<std::uint64_t> marked,
                                                      float height);

}  // namespace reprise::viewer
