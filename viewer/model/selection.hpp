// The one selection and the one filter that all views share: ids, never pointers, so that they stay
// valid from one document to the next. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

struct SelectedNode {
  GraphKey graph;
  std::uint32_t node = 0;
  friend bool operator==(const SelectedNode&, const SelectedNode&) = default;
};
struct SelectedBuffer {
  GraphKey graph;
  std::uint32_t buffer = 0;  // of the graph
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

using Selection = std::variant<std::monostate, SelectedNode, SelectedBuffer, SelectedReplay,
                               SelectedBarrier, SelectedEdge>;

// True if a view lights up this node for the selection: the node itself, a user of the buffer, an
// end of the edge, or an end of an edge that the barrier made.
[[nodiscard]] bool selects_node(const Selection& selection, const Graph& graph, std::uint32_t node);
// True for the buffer itself and for those that the selected node touches.
[[nodiscard]] bool selects_buffer(const Selection& selection, const Graph& graph,
                                  std::uint32_t buffer);
// True for the edge itself, those of the selected barrier, and those at the selected node.
[[nodiscard]] bool selects_edge(const Selection& selection, const Graph& graph, std::uint32_t edge);

struct Filter {
  std::string text = {};  // words, all to be found; case does not matter; empty: everything
  std::uint32_t kinds = 0xffffffffu;       // a bit for each trace::NodeKind
  std::vector<std::uint32_t> labels = {};  // below any of these; empty: everywhere

  [[nodiscard]] bool is_empty() const noexcept {
    return text.empty() && kinds == 0xffffffffu && labels.empty();
  }
  friend bool operator==(const Filter&, const Filter&) = default;
};

// A node each, 1 where it passes: each word in its name, label path, kernel, or the name of a
// buffer that it touches.
[[nodiscard]] std::vector<std::uint8_t> matching_nodes(const Filter& filter, const Graph& graph);
// A buffer each: by its name, or if a node that passes touches it.
[[nodiscard]] std::vector<std::uint8_t> matching_buffers(const Filter& filter, const Graph& graph);

}  // namespace reprise::model
