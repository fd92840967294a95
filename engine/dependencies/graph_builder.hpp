// GraphBuilder: makes a DependencyGraph node by node, edges into each in any order and more than
// once. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

class GraphBuilder {
 public:
  void reserve(std::size_t nodes, std::size_t edges) {
    made_.node_command.reserve(nodes);
    made_.is_join.reserve(nodes);
    made_.first_edge.reserve(nodes + 1);
    reserve_huge(made_.edges, edges);
    edge_from_.reserve(nodes);
  }

  // The node that edges are added to until end_node(); nodes are numbered 0, 1, 2...
  std::uint32_t begin_work(std::uint32_t command) { return begin_node(command, 0); }
  std::uint32_t begin_join(std::uint32_t barrier) { return begin_node(barrier, 1); }
  // Of several edges from one node, the first of the lowest CauseKind stays.
  void add_edge(std::uint32_t from, const EdgeCause& cause) {
    const std::uint32_t to = node_count() - 1;
    if (Seen& seen = edge_from_[from]; seen.serial != serial_) {
      seen = {serial_, static_cast<std::uint32_t>(made_.edges.size())};
      made_.edges.push_back({from, to, cause});
    } else if (cause.kind < made_.edges[seen.edge].cause.kind) {
      made_.edges[seen.edge].cause = cause;
    }
  }
  void end_node() {
    const auto begin = made_.edges.begin() + made_.first_edge.back();
    const auto by_from = [](const Edge& a, const Edge& b) { return a.from < b.from; };
    if (!std::is_sorted(begin, made_.edges.end(), by_from))
      std::sort(begin, made_.edges.end(), by_from);
  }
  // Instead of end_node(): as if the node had never begun. The edges are taken first, if wanted.
  void drop_node() {
    made_.edges.resize(made_.first_edge.back());
    made_.first_edge.pop_back();
    made_.node_command.pop_back();
    made_.is_join.pop_back();
    edge_from_.pop_back();
  }

  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(made_.node_command.size());
  }
  // Edges into a node, the one that is being made included.
  [[nodiscard]] std::span<const Edge> edges_into(std::uint32_t node) const {
    const std::size_t end =
        node + 1 < node_count() ? made_.first_edge[node + 1] : made_.edges.size();
    return {made_.edges.data() + made_.first_edge[node], made_.edges.data() + end};
  }
  [[nodiscard]] DependencyGraph finish() {
    made_.first_edge.push_back(static_cast<std::uint32_t>(made_.edges.size()));
    return std::move(made_);
  }

 private:
  struct Seen {
    std::uint32_t serial = 0, edge = 0;
  };
  std::uint32_t begin_node(std::uint32_t command, std::uint8_t is_join) {
    made_.node_command.push_back(command);
    made_.is_join.push_back(is_join);
    made_.first_edge.push_back(static_cast<std::uint32_t>(made_.edges.size()));
    edge_from_.emplace_back();
    ++serial_;
    return node_count() - 1;
  }

  DependencyGraph made_;
  std::vector<Seen> edge_from_;  // by node: the last node, counted as begun, that it has an edge
                                 // to, and that edge
  std::uint32_t serial_ = 0;
};

}  // namespace reprise::detail
