// The selection and the filter that all views share. Both hold ids, never pointers, so they stay
// valid across documents. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/graph.hpp"
#include "model/query.hpp"

namespace reprise::model {

struct SelectedNode {
  GraphKey graph;
  std::uint32_t node = 0;
  friend bool operator==(const SelectedNode&, const SelectedNode&) = default;
};
struct SelectedBuffer {
  GraphKey graph;
  std::uint32_t buffer = 0;  // in the graph's own table
  friend bool operator==(const SelectedBuffer&, const SelectedBuffer&) = default;
};
struct SelectedReplay {
  GraphKey graph;
  std::uint64_t replay = 0;
  friend bool operator==(const SelectedReplay&, const SelectedReplay&) = default;
};
struct SelectedBarrier {
  GraphKey graph;
  std::uint32_t barrier = 0;
  friend bool operator==(const SelectedBarrier&, const SelectedBarrier&) = default;
};
struct SelectedEdge {
  GraphKey graph;
  std::uint32_t edge = 0;
  friend bool operator==(const SelectedEdge&, const SelectedEdge&) = default;
};

struct SelectedSpan {  // of the timeline; belongs to no graph
  trace::Time started = 0, ended = 0;
  friend bool operator==(const SelectedSpan&, const SelectedSpan&) = default;
};

using Selection = std::variant<std::monostate, SelectedNode, SelectedBuffer, SelectedReplay,
                               SelectedBarrier, SelectedEdge, SelectedSpan>;

// True if views highlight this node: it is selected, accesses the selected buffer, or is an
// endpoint of the selected edge or of an edge of the selected barrier.
[[nodiscard]] bool selects_node(const Selection& selection, const Graph& graph, std::uint32_t node);
// True for the selected buffer and for the buffers that the selected node accesses.
[[nodiscard]] bool selects_buffer(const Selection& selection, const Graph& graph,
                                  std::uint32_t buffer);
// True for the selected edge, the edges of the selected barrier and those of the selected node.
[[nodiscard]] bool selects_edge(const Selection& selection, const Graph& graph, std::uint32_t edge);

struct Filter {
  std::string text = {};                   // a query; empty: everything
  std::uint32_t kinds = 0xffffffffu;       // bit mask over trace::NodeKind
  std::vector<std::uint32_t> labels = {};  // subtrees to include; empty: all

  [[nodiscard]] bool is_empty() const noexcept {
    return text.empty() && kinds == 0xffffffffu && labels.empty();
  }
  friend bool operator==(const Filter&, const Filter&) = default;
};

// The word that matches the nodes of a segment: "segment:0".
[[nodiscard]] std::string segment_word(std::uint32_t segment);
// The value of a statistic of a node; NaN: unknown.
using StatisticOf = std::function<double(std::uint32_t node, Figure statistic)>;
// One entry per node, 1 if it passes. Without `statistics`, all are unknown. A query with an error
// matches every node.
[[nodiscard]] std::vector<std::uint8_t> matching_nodes(const Filter& filter, const Graph& graph,
                                                       const StatisticOf& statistics = {});
// One entry per buffer, 1 if a node of `nodes`, which matching_nodes() returned, accesses it, or if
// its name alone matches.
[[nodiscard]] std::vector<std::uint8_t> matching_buffers(const Filter& filter, const Graph& graph,
                                                         std::span<const std::uint8_t> nodes);

}  // namespace reprise::model
