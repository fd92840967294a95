// The graph that a layout draws: sizes, edges, groups, lanes. Knows no engine, no trace, no window.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::viewer {

inline constexpr std::uint32_t kNoGroup = 0xffffffffu;

struct Size {
  float width = 0, height = 0;  // points
};

// Of nodes, from < to: the numbering is a topological order. Several edges may join the same two
// nodes.
struct LayoutEdge {
  std::uint32_t from = 0, to = 0;
};

struct LayoutGraph {
  std::vector<Size> sizes;  // a node each
  std::vector<LayoutEdge> edges;
  std::vector<std::uint32_t>
      node_group;  // the innermost group of each node or kNoGroup; empty: no groups
  std::vector<std::uint32_t>
      group_parent;  // a group each: its parent, a smaller number, or kNoGroup
  std::vector<std::uint32_t>
      node_lane;  // nodes that nothing else tells apart stand by lane; empty: none
  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(sizes.size());
  }
  [[nodiscard]] std::uint32_t edge_count() const noexcept {
    return static_cast<std::uint32_t>(edges.size());
  }
};

// Throws std::invalid_argument: an edge that is no edge, a group or lane list of a wrong length, a
// size that is no size.
void check_layout_graph(const LayoutGraph& graph);

// Edges by the node that they leave and by the node that they enter, in the order of graph.edges.
struct Adjacency {
  std::vector<std::uint32_t> first_out,
      out;  // edges of node n: out[first_out[n], first_out[n + 1])
  std::vector<std::uint32_t> first_in, in;
};
[[nodiscard]] Adjacency adjacency_of(const LayoutGraph& graph);

}  // namespace reprise::viewer
