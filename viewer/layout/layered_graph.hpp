// A graph whose edges join neighbouring ranks only. A long edge becomes a chain of bends, one a
// rank, or, where that would be too many, a head, a straight segment that passes any number of
// ranks at no cost, and a tail. A pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

enum class ItemKind : std::uint8_t {
  Node,
  Bend,  // of a long edge
  Head,  // of a long edge; below it a segment begins
  Tail,  // of a long edge; above it a segment ends
};

// The tree of a graph's groups, as what keeps their nodes apart asks it.
class GroupTree {
 public:
  explicit GroupTree(const std::vector<std::uint32_t>& parents);
  // Groups that hold one of two nodes and not the other, by the nodes' innermost groups or
  // kNoGroup.
  [[nodiscard]] std::uint32_t borders(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::uint32_t parent(std::uint32_t group) const { return parents_[group]; }
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(parents_.size());
  }

 private:
  std::vector<std::uint32_t> parents_, depths_;  // a group each; depth: 1 for outermost ones
};

// Items 0 .. node_count - 1 are the nodes; the others belong to long edges and have one link above
// and one below.
struct LayeredGraph {
  struct Segment {
    std::uint32_t head = 0, tail = 0;  // items; it passes the ranks between theirs, one at least
  };
  std::uint32_t node_count = 0, rank_count = 0;
  const GroupTree* groups = nullptr;      // null: no node is in a group
  std::vector<std::uint32_t> node_group;  // a node each, or empty
  std::vector<std::uint32_t> rank;        // an item each
  std::vector<ItemKind> kind;             // an item each
  std::vector<std::uint32_t> segment;     // an item each: of heads and tails
  std::vector<Segment> segments;
  // Links between neighbouring ranks, without segments. Link l leads from link_from[l] down to
  // link_to[l]; sorted by link_from.
  std::vector<std::uint32_t> link_from, link_to;
  std::vector<std::uint32_t> first_down;  // links below item i: [first_down[i], first_down[i + 1])
  std::vector<std::uint32_t> first_up, up;  // links above item i: up[first_up[i], first_up[i + 1])
  std::vector<std::uint32_t> first_chain,
      chains;  // items of edge e, node to node: chains[first_chain[e], first_chain[e + 1])
  [[nodiscard]] std::uint32_t item_count() const noexcept {
    return static_cast<std::uint32_t>(rank.size());
  }
  [[nodiscard]] std::uint32_t link_count() const noexcept {
    return static_cast<std::uint32_t>(link_from.size());
  }
  // Group borders between two items that stand side by side; bends are in no group and at no
  // border.
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

// The bends of all edges together stay below this many, or every edge has two at most.
[[nodiscard]] std::uint64_t bend_budget(std::uint32_t nodes, std::uint32_t edges) noexcept;

[[nodiscard]] LayeredGraph build_layered_graph(const LayoutGraph& graph,
                                               const std::vector<std::uint32_t>& ranks);

}  // namespace reprise::viewer
