// NodeOrder: the nodes of a graph in the order that a column of the table asks for. Sorts once for
// each change, in the background; drawing only walks. Draws nothing. Threads: sorted_nodes() is
// pure; NodeSorter belongs to the drawing thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "panels/nodes/nodes_columns.hpp"

namespace reprise::viewer {

enum class SortDirection : std::uint8_t { Ascending, Descending };

struct NodeSort {
  NodeColumn column = NodeColumn::Share;
  SortDirection direction = SortDirection::Descending;
  friend bool operator==(const NodeSort&, const NodeSort&) = default;
};

// Every node. What is unknown comes last in both directions; equals by number. `facts` may be null.
[[nodiscard]] std::vector<std::uint32_t> sorted_nodes(const model::Graph& graph,
                                                      const GraphViewModel* view_model,
                                                      NodeSort sort);

// What facts are, without keeping them: two that differ in this were made from different numbers.
struct ViewModelMark {
  model::GraphKey graph;
  const void* view_model = nullptr;
  std::uint64_t revision = 0, samples = 0;
  std::size_t first = 0, count = 0;  // the range of replays
  double least = 0, greatest = 0;
  friend bool operator==(const ViewModelMark&, const ViewModelMark&) = default;
};
[[nodiscard]] ViewModelMark mark_of(const PanelContext& context);

class NodeSorter {
 public:
  explicit NodeSorter(Background& background) : sorted_(background) {}

  // The rows to show: the nodes that pass the filter, sorted. Of an older state while the new one
  // is made; empty while there is none of this graph.
  [[nodiscard]] const std::vector<std::uint32_t>& rows(const PanelContext& context, NodeSort sort);
  // For all rows of the column, made together with them.
  [[nodiscard]] const ColumnScales& scales() const noexcept { return scales_; }

 private:
  struct Key {
    ViewModelMark view_model;
    NodeSort sort;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Sorted {
    model::GraphKey graph;
    std::vector<std::uint32_t> nodes;
    ColumnScales scales{};
  };

  AsyncValue<Key, Sorted> sorted_;
  Key asked_;
  bool has_asked_ = false;
  std::shared_ptr<const Sorted> shown_;  // what rows_ was made of
  std::vector<std::uint8_t> matches_;
  std::vector<std::uint32_t> rows_;
  ColumnScales scales_{};
};

}  // namespace reprise::viewer
