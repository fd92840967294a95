// A graph whose edges connect adjacent ranks only. A long edge becomes a chain of bends, one per
// rank. Where that would exceed the bend budget, it becomes a head, a straight segment across any
// number of ranks at constant cost, and a tail. A pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

enum class ItemKind : std::uint8_t {
  Node,
  Bend,  // of a long edge
  Head,  // of a long edge; its segment starts below
  Tail,  // of a long edge; its segment ends above
};

// The tree of a graph's groups, for computing distances between nodes.
class GroupTree {
 public:
  explicit GroupTree(const std::vector<std::uint32_t>& parents);
  // The number of groups that contain exactly one of two nodes. The arguments are the nodes'
  // innermost groups, or kNoGroup.
  [[nodiscard]] std::uint32_t borders(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::uint32_t parent(std::uint32_t group) const { return parents_[group]; }
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(parents_.size());
  }

 private:
  std::vector<std::uint32_t> parents_, depths_;  // per group; outermost groups have depth 1
};

// Items 0 .. node_count - 1 are the nodes; the others belong to long edges and have one link on
// either side.
struct LayeredGraph {
  struct Segment {
    std::uint32_t head = 0, tail = 0;  // items; at least one rank lies between them
  };
  std::uint32_t node_count = 0, rank_count = 0;
  const GroupTree* groups = nullptr;      // null: no node is in a group
  std::vector<std::uint32_t> node_group;  // per node, or empty
  std::vector<std::uint32_t> rank;        // per item
  std::vector<ItemKind> kind;             // per item
  std::vector<std::uint32_t> segment;     // per item; valid for heads and tails
  std::vector<Segment> segments;
  // Links between adjacent ranks, without segments. Link l leads from link_from[l] down to
  // link_to[l]; sorted by link_from.
  std::vector<std::uint32_t> link_from, link_to;
  std::vector<std::uint32_t> first_down;  // links below item i: [first_down[i], first_down[i + 1])
  std::vector<std::uint32_t> first_up, up;  // links above item i: up[first_up[i], first_up[i + 1])
  // items of edge e, node to node: chains[first_chain[e], first_chain[e + 1])
  std::vector<std::uint32_t> first_chain, chains;
  [[nodiscard]] std::uint32_t item_count() const noexcept {
    return static_cast<std::uint32_t>(rank.size());
  }
  [[nodiscard]] std::uint32_t link_count() const noexcept {
    return static_cast<std::uint32_t>(link_from.size());
  }
  // The number of group borders between two adjacent items. Bends belong to no group.
  [[nodiscard]] std::uint32_t borders(std::uint32_t a, std::uint32_t b) const {
    return groups == nullptr || a >= node_group.size() || b >= node_group.size()
               ? 0
               : groups->borders(node_group[a], node_group[b]);
  }
  [[nodiscard]] bool is_inner(std::uint32_t link) const noexcept {
    return link_from[link] >= node_count && link_to[link] >= node_count;
  }
  [[nodiscard]] std::span<const std::uint32_t> chain(std::uint32_t edge) const noexcept {
    return {chains.data() + first_chain[edge], chains.data() + first_chain[edge + 1]};
  }
};

// The maximum total number of bends; beyond it, every edge has at most two.
[[nodiscard]] std::uint64_t bend_budget(std::uint32_t nodes, std::uint32_t edges) noexcept;

[[nodiscard]] LayeredGraph build_layered_graph(const LayoutGraph& graph,
                                               const std::vector<std::uint32_t>& ranks);

}  // namespace reprise::viewer
