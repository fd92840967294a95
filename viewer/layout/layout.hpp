// layout: a layered drawing of a directed acyclic graph. A pure function, deterministic: the same
// input gives the same bytes. Knows no engine, no trace, no window. Threads: any, the input is not
// changed.
//
// Stages, a file each: components -> ranks -> layered_graph (long edges) -> ordering -> coordinates
// -> routes -> packing -> groups.
//
// A rank is one row, however many nodes it holds: 10,000 nodes that wait for the same node make a
// picture 10,000 nodes wide. Parts of the graph that no edge joins are drawn for themselves and
// packed in shelves from left to right, so nodes without edges make a block and no row. Group
// rectangles bound their nodes; other nodes may stand between those.
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

// Where edges lead.
enum class Direction : std::uint8_t { Down, Right };

// Distances in points. "Across" is along a rank.
struct LayoutOptions {
  Direction direction = Direction::Down;
  float node_gap = 24;  // across, between two nodes of a rank
  float edge_gap = 10;  // across, between an edge that passes and its neighbour
  float rank_gap = 40;  // between two ranks
  float group_gap =
      0;  // across, more for each group that ends or begins between two nodes of a rank
  float group_begin =
      0;  // between two ranks, more for each group that begins there, and for each that ends
  float group_end = 0;
  float most_spread = 3;  // times the least width: a picture that would be wider is balanced, with
                          // edges that are less straight
  float component_gap = 48;  // between parts that no edge joins
  float group_padding = 8;   // around a group's nodes, once more for each level of groups inside it
  float aspect = 1.6f;       // width over height that packing aims at
};

struct LayoutStatistics {
  std::uint64_t crossings = 0;  // of edges with edges, in the ranks' order
  std::uint32_t components = 0;
  std::uint32_t ranks = 0;  // of the component that has most
  std::uint32_t bends = 0;  // places where a long edge may bend
  std::uint32_t segments =
      0;  // stretches of long edges that are kept straight, however many ranks they pass
  std::uint64_t edge_ranks = 0;  // ranks that edges span, in all
};

struct Layout {
  std::vector<Point> centres;        // a node each
  std::vector<std::uint32_t> ranks;  // a node each; in its component, from 0
  std::vector<std::uint32_t> order;  // a node each: place among the nodes of its rank and component
  std::vector<std::uint32_t> first_point;  // edge_count() + 1
  std::vector<Point> points;  // edge e is the polyline points[first_point[e], first_point[e + 1]),
                              // border to border
  std::vector<Rect> groups;   // a group each; all zero where a group has no node
  Rect bounds;                // of nodes, edges and groups; begins at 0, 0
  LayoutStatistics statistics;
  [[nodiscard]] std::span<const Point> edge_points(std::uint32_t edge) const noexcept {
    return {points.data() + first_point[edge], points.data() + first_point[edge + 1]};
  }
};

// Throws std::invalid_argument where check_layout_graph does.
[[nodiscard]] Layout lay_out(const LayoutGraph& graph, const LayoutOptions& options);

}  // namespace reprise::viewer
