// Graph: one immutable version of a graph, with indexes for neighbours, the label tree and buffer
// accesses. The decoder has validated the record's indices. Every edge leads from a smaller to a
// larger node, so node order is a topological order. Threads: an immutable value, safe to read
// concurrently.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/kernel_kind.hpp"
#include "trace/records.hpp"

namespace reprise::model {

struct GraphKey {
  std::uint32_t graph = 0, version = 0;
  friend auto operator<=>(const GraphKey&, const GraphKey&) = default;
};

struct Neighbour {
  std::uint32_t node = 0, edge = 0;  // edge: index into record().edges
};

struct BufferUse {
  std::uint32_t node = 0, access = 0;  // access: index into record().accesses
};

class Graph {
 public:
  explicit Graph(trace::GraphVersion record);

  [[nodiscard]] const trace::GraphVersion& record() const noexcept { return record_; }
  [[nodiscard]] GraphKey key() const noexcept { return {record_.graph, record_.version}; }
  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(record_.nodes.size());
  }
  // Nodes below this number belong to the graph itself. Nodes from this number on belong to bodies:
  // one of the graph's own nodes runs them, and their edges never leave their body.
  [[nodiscard]] std::uint32_t own_node_count() const noexcept {
    return record_.bodies.empty() ? node_count() : record_.bodies.front().first_node;
  }
  // body_of(): the index in record().bodies of the body that contains the node. parent(): the node
  // that runs this body. Both are trace::kNone for the graph's own nodes.
  [[nodiscard]] std::uint32_t body_of(std::uint32_t node) const noexcept;
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const noexcept;
  // The graph's own node whose execution includes this one; the node itself if it is one.
  [[nodiscard]] std::uint32_t own_node_of(std::uint32_t node) const noexcept;
  // Ordered by node, then edge. Parallel edges yield one neighbour each.
  [[nodiscard]] std::span<const Neighbour> predecessors(std::uint32_t node) const {
    return row(predecessors_, node);
  }
  [[nodiscard]] std::span<const Neighbour> successors(std::uint32_t node) const {
    return row(successors_, node);
  }
  // The block relations of a node of a segment to earlier ones, ordered by those; and the one to
  // `from`, or nullptr.
  [[nodiscard]] std::span<const trace::BlockRelation> relations_into(std::uint32_t node) const;
  [[nodiscard]] const trace::BlockRelation* relation(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::span<const trace::NodeAccess> accesses(std::uint32_t node) const;
  // How often an observed program changed the parameters of the node, or of all nodes.
  [[nodiscard]] std::uint64_t changes(std::uint32_t node) const;
  [[nodiscard]] std::uint64_t changes() const;
  // The innermost frame of the call stack of the thread that created the node: an index in
  // record().frames; trace::kNone: unknown.
  [[nodiscard]] std::uint32_t stack(std::uint32_t node) const;
  // The source lines that launched an observed graph, as far as the trace has stacks of launches;
  // the most frequent first.
  struct LaunchLine {
    std::string text;  // "train.py:40"; or the module of native code
    std::uint64_t launches = 0;
  };
  [[nodiscard]] std::vector<LaunchLine> launch_lines() const;
  // The accesses to a buffer, ordered by node.
  [[nodiscard]] std::span<const BufferUse> uses(std::uint32_t buffer) const {
    return row(uses_, buffer);
  }
  // The direct children of a label, and the nodes directly under it, both ascending.
  [[nodiscard]] std::span<const std::uint32_t> child_labels(std::uint32_t label) const {
    return row(child_labels_, label);
  }
  [[nodiscard]] std::span<const std::uint32_t> label_nodes(std::uint32_t label) const {
    return row(label_nodes_, label);
  }
  // True if `label` is `ancestor` or one of its descendants.
  [[nodiscard]] bool is_below(std::uint32_t label, std::uint32_t ancestor) const;

  // Equal for graphs whose nodes have the same kinds, edges and bodies.
  [[nodiscard]] std::uint64_t topology() const noexcept { return topology_; }

  [[nodiscard]] std::string name() const;  // the graph's label, or "graph 3"
  [[nodiscard]] std::string node_name(std::uint32_t node) const;
  // empty if the node has no kernel
  [[nodiscard]] const std::string& kernel_name(std::uint32_t node) const;
  [[nodiscard]] const std::string& full_kernel_name(std::uint32_t node) const;
  // By the name of its kernel; of a child graph, such as an op's, by the node's name. Other if the
  // node has neither.
  [[nodiscard]] detail::KernelKind kernel_kind(std::uint32_t node) const {
    return kernel_kinds_[node];
  }
  // "GEMM", "copy": of the kernel if that is known, otherwise of the node.
  [[nodiscard]] const char* kind_name(std::uint32_t node) const noexcept;
  [[nodiscard]] const std::string& buffer_name(std::uint32_t buffer) const {
    return record_.strings[record_.buffers[buffer].name];
  }
  // "epoch / forward"; empty for the root
  [[nodiscard]] std::string label_path(std::uint32_t label) const;

 private:
  template <class T>
  struct Rows {
    std::vector<std::uint64_t> offsets;  // start of each row, then the end of the last
    std::vector<T> items;
  };
  template <class T, class Each>
  static Rows<T> make_rows(std::size_t count, Each each);
  template <class T>
  static std::span<const T> row(const Rows<T>& rows, std::uint32_t i) {
    return std::span<const T>(rows.items)
        .subspan(rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]);
  }

  trace::GraphVersion record_;
  Rows<Neighbour> predecessors_, successors_;
  Rows<BufferUse> uses_;
  Rows<std::uint32_t> child_labels_, label_nodes_;
  std::vector<detail::KernelKind> kernel_kinds_;  // by node
  std::uint64_t topology_ = 0;
};

}  // namespace reprise::model
