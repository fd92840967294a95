// The input of a layout: sizes, edges, groups and lanes. Knows no engine, trace or window. Threads:
// plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::viewer {

inline constexpr std::uint32_t kNoGroup = 0xffffffffu;

struct Size {
  float width = 0, height = 0;  // points
  friend bool operator==(const Size&, const Size&) = default;
};

// Node indices with from < to, so node order is a topological order. Parallel edges are allowed.
struct LayoutEdge {
  std::uint32_t from = 0, to = 0;
};

struct LayoutGraph {
  std::vector<Size> sizes;  // per node
  std::vector<LayoutEdge> edges;
  // innermost group of each node, or kNoGroup; empty: no groups
  std::vector<std::uint32_t> node_group;
  // per group: its parent (a smaller number), or kNoGroup
  std::vector<std::uint32_t> group_parent;
  // per node; orders otherwise equal nodes; empty: no lanes
  std::vector<std::uint32_t> node_lane;
  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(sizes.size());
  }
  [[nodiscard]] std::uint32_t edge_count() const noexcept {
    return static_cast<std::uint32_t>(edges.size());
  }
};

// Throws std::invalid_argument for an invalid edge, a group or lane list of the wrong length, or an
// invalid size.
void check_layout_graph(const LayoutGraph& graph);

// Edges by source and by destination node, each in the order of graph.edges.
struct Adjacency {
  // edges of node n: out[first_out[n], first_out[n + 1])
  std::vector<std::uint32_t> first_out, out;
  std::vector<std::uint32_t> first_in, in;
};
[[nodiscard]] Adjacency adjacency_of(const LayoutGraph& graph);

}  // namespace reprise::viewer
