// Layered drawing of a directed acyclic graph. A pure, deterministic function: equal input yields
// equal bytes. Knows no engine, trace or window. Threads: any; the input is const.
//
// Stages, one file each: components -> ranks -> layered_graph (long edges) -> ordering ->
// coordinates -> routes -> stacking -> folding -> packing -> groups.
//
// Without a view a rank is a single row of any width: 10,000 nodes with a common predecessor make a
// drawing 10,000 nodes wide. Connected components are drawn separately and packed into shelves from
// left to right, so nodes without edges form a block instead of a row. Group rectangles bound their
// nodes; unrelated nodes may lie between these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

struct Point {
  float x = 0, y = 0;
};

struct Rect {
  float left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] float width() const noexcept { return right - left; }
  [[nodiscard]] float height() const noexcept { return bottom - top; }
};

// The direction of the edges.
enum class Direction : std::uint8_t { Down, Right };

// Distances in points. "Across" is the direction along a rank.
struct LayoutOptions {
  Direction direction = Direction::Down;
  float node_gap = 24;  // across, between adjacent nodes of a rank
  float edge_gap = 10;  // across, between a passing edge and its neighbour
  float rank_gap = 40;  // between adjacent ranks
  // added across per group border between adjacent nodes of a rank
  float group_gap = 0;
  // added between ranks per group that starts there
  float group_start = 0;
  float group_end = 0;  // likewise, per group that ended above
  // maximum width relative to the minimum; wider drawings are balanced, with less straight edges
  float max_spread = 3;
  float component_gap = 48;  // between connected components
  float group_padding = 8;   // around a group's nodes, added per nesting level
  float aspect = 1.6f;       // target width / height of the packing
  // The view that a component should fill: deep components that would be drawn smaller than 1:1 are
  // folded into columns (rows with Direction::Right), and the nodes of far too wide ranks are
  // stacked. 0 x 0: never.
  Size view = {};
  float column_gap = 64;  // between the columns of a folded component, at least
};

struct LayoutStatistics {
  std::uint64_t crossings = 0;  // between edges, given the rank order
  std::uint32_t components = 0;
  std::uint32_t ranks = 0;  // of the component with the most
  std::uint32_t columns = 0;  // likewise; 1: no component is folded
  std::uint32_t rows = 0;     // nodes of the tallest stack; 1: no nodes are stacked
  std::uint32_t bends = 0;  // bend points of long edges
  // straight segments of long edges
  std::uint32_t segments = 0;
  std::uint64_t edge_ranks = 0;  // total number of ranks that edges span
};

struct Layout {
  std::vector<Point> centres;        // per node
  std::vector<std::uint32_t> ranks;  // per node; within its component, from 0
  std::vector<std::uint32_t> order;  // per node: index among the nodes of its rank and component
  std::vector<std::uint32_t> first_point;  // edge_count() + 1 entries
  // edge e is the polyline points[first_point[e], first_point[e + 1]), border to border
  std::vector<Point> points;
  std::vector<Rect> groups;  // per group; all zero for a group without nodes
  Rect bounds;               // of nodes, edges and groups; starts at 0, 0
  LayoutStatistics statistics;
  [[nodiscard]] std::span<const Point> edge_points(std::uint32_t edge) const noexcept {
    return {points.data() + first_point[edge], points.data() + first_point[edge + 1]};
  }
};

// Throws std::invalid_argument as check_layout_graph() does.
[[nodiscard]] Layout lay_out(const LayoutGraph& graph, const LayoutOptions& options);

}  // namespace reprise::viewer
