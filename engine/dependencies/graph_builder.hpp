// GraphBuilder: builds a DependencyGraph node by node. Edges into a node arrive in any order and
// may repeat. Threads: one thread at a time.
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
    graph_.node_command.reserve(nodes);
    graph_.is_join.reserve(nodes);
    graph_.first_edge.reserve(nodes + 1);
    reserve_huge(graph_.edges, edges);
    last_edge_from_.reserve(nodes);
  }

  // Starts the node that receives edges until end_node(). Nodes are numbered 0, 1, 2, ...
  std::uint32_t begin_work(std::uint32_t command) { return begin_node(command, 0); }
  std::uint32_t begin_join(std::uint32_t barrier) { return begin_node(barrier, 1); }
  // Keeps one edge per source node: the first one with the min CauseKind.
  void add_edge(std::uint32_t from, const EdgeCause& cause) {
    const std::uint32_t to = node_count() - 1;
    if (LastEdge& last = last_edge_from_[from]; last.serial != serial_) {
      last = {serial_, static_cast<std::uint32_t>(graph_.edges.size())};
      graph_.edges.push_back({from, to, cause});
    } else if (cause.kind < graph_.edges[last.edge].cause.kind) {
      graph_.edges[last.edge].cause = cause;
    }
  }
  void end_node() {
    const auto begin = graph_.edges.begin() + graph_.first_edge.back();
    const auto by_from = [](const Edge& a, const Edge& b) { return a.from < b.from; };
    if (!std::is_sorted(begin, graph_.edges.end(), by_from))
      std::sort(begin, graph_.edges.end(), by_from);
  }
  // Replaces end_node(): removes the current node and its edges. Callers copy the edges first if
  // needed.
  void drop_node() {
    graph_.edges.resize(graph_.first_edge.back());
    graph_.first_edge.pop_back();
    graph_.node_command.pop_back();
    graph_.is_join.pop_back();
    last_edge_from_.pop_back();
  }

  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(graph_.node_command.size());
  }
  // Edges into a node, including the current one.
  [[nodiscard]] std::span<const Edge> edges_into(std::uint32_t node) const {
    const std::size_t end =
        node + 1 < node_count() ? graph_.first_edge[node + 1] : graph_.edges.size();
    return {graph_.edges.data() + graph_.first_edge[node], graph_.edges.data() + end};
  }
  [[nodiscard]] DependencyGraph finish() {
    graph_.first_edge.push_back(static_cast<std::uint32_t>(graph_.edges.size()));
    return std::move(graph_);
  }

 private:
  // The last edge from a node, and the serial number of its target.
  struct LastEdge {
    std::uint32_t serial = 0, edge = 0;
  };
  std::uint32_t begin_node(std::uint32_t command, std::uint8_t is_join) {
    graph_.node_command.push_back(command);
    graph_.is_join.push_back(is_join);
    graph_.first_edge.push_back(static_cast<std::uint32_t>(graph_.edges.size()));
    last_edge_from_.emplace_back();
    ++serial_;
    return node_count() - 1;
  }

  DependencyGraph graph_;
  std::vector<LastEdge> last_edge_from_;  // by source node
  std::uint32_t serial_ = 0;
};

}  // namespace reprise::detail
