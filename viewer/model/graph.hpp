// Graph: one version of a graph with its neighbours, label tree and uses of buffers ready to look
// up. Immutable; the record's indices are checked by whoever decoded it, and its edges lead from
// smaller to greater nodes, so that node order is a topological order. Threads: a value that many
// may read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/records.hpp"

namespace reprise::model {

struct GraphKey {
  std::uint32_t graph = 0, version = 0;
  friend auto operator<=>(const GraphKey&, const GraphKey&) = default;
};

struct Neighbour {
  std::uint32_t node = 0, edge = 0;  // edge: in record().edges
};

struct BufferUse {
  std::uint32_t node = 0, access = 0;  // access: in record().accesses
};

class Graph {
 public:
  explicit Graph(trace::GraphVersion record);

  [[nodiscard]] const trace::GraphVersion& record() const noexcept { return record_; }
  [[nodiscard]] GraphKey key() const noexcept { return {record_.graph, record_.version}; }
  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(record_.nodes.size());
  }
  // The graph's own nodes are those before: what stands behind them is run by one of these, in its
  // time, and has edges to its like alone.
  [[nodiscard]] std::uint32_t own_node_count() const noexcept {
    return record_.bodies.empty() ? node_count() : record_.bodies.front().first_node;
  }
  // The body that a node is in, in record().bodies, and the node that runs that; trace::kNone for
  // one of the graph's own.
  [[nodiscard]] std::uint32_t body_of(std::uint32_t node) const noexcept;
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const noexcept;
  // The graph's own node that it runs in, itself perhaps.
  [[nodiscard]] std::uint32_t own_node_of(std::uint32_t node) const noexcept;
  // By node, then edge; two edges between the same nodes are two neighbours.
  [[nodiscard]] std::span<const Neighbour> predecessors(std::uint32_t node) const {
    return row(predecessors_, node);
  }
  [[nodiscard]] std::span<const Neighbour> successors(std::uint32_t node) const {
    return row(successors_, node);
  }
  [[nodiscard]] std::span<const trace::NodeAccess> accesses(std::uint32_t node) const;
  // Who touches a buffer, by node.
  [[nodiscard]] std::span<const BufferUse> uses(std::uint32_t buffer) const {
    return row(uses_, buffer);
  }
  // Labels directly below one, and nodes directly in one, ascending.
  [[nodiscard]] std::span<const std::uint32_t> child_labels(std::uint32_t label) const {
    return row(child_labels_, label);
  }
  [[nodiscard]] std::span<const std::uint32_t> label_nodes(std::uint32_t label) const {
    return row(label_nodes_, label);
  }
  // True if `label` is `ancestor` or stands below it.
  [[nodiscard]] bool is_below(std::uint32_t label, std::uint32_t ancestor) const;

  [[nodiscard]] std::string name() const;  // its label, or "graph 3"
  [[nodiscard]] std::string node_name(std::uint32_t node) const;
  [[nodiscard]] const std::string& kernel_name(std::uint32_t node) const;  // empty: none
  [[nodiscard]] const std::string& buffer_name(std::uint32_t buffer) const {
    return record_.strings[record_.buffers[buffer].name];
  }
  [[nodiscard]] std::string label_path(
      std::uint32_t label) const;  // "epoch / forward"; empty for the root

 private:
  template <class T>
  struct Rows {
    std::vector<std::uint32_t> offsets;  // a row each, and the end
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
};

}  // namespace reprise::model
