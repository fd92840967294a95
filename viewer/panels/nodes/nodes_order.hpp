// Sorting of the node table. A worker sorts after each change; the drawing thread only reads the
// result. Performs no drawing. Threads: sorted_nodes() is pure; NodeSorter belongs to the drawing
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "panels/nodes/nodes_columns.hpp"

namespace reprise::viewer {

enum class SortDirection : std::uint8_t { Ascending, Descending };

struct NodeSort {
  NodeColumn column = NodeColumn::Share;
  SortDirection direction = SortDirection::Descending;
  friend bool operator==(const NodeSort&, const NodeSort&) = default;
};

// All nodes, sorted. Unknown values come last in both directions; equal values are sorted by index.
// `view_model` may be null.
[[nodiscard]] std::vector<std::uint32_t> sorted_nodes(const model::Graph& graph,
                                                      const GraphViewModel* view_model,
                                                      NodeSort sort);

// Identifies the contents of a graph view model without retaining it. View models with different
// contents have different keys.
struct GraphViewModelKey {
  model::GraphKey graph;
  const void* view_model = nullptr;
  std::uint64_t revision = 0, samples = 0;
  model::ReplayRange range;
  double min = 0, max = 0;
  friend bool operator==(const GraphViewModelKey&, const GraphViewModelKey&) = default;
};
[[nodiscard]] GraphViewModelKey graph_view_model_key(const PanelContext& context);

class NodeSorter {
 public:
  explicit NodeSorter(Background& background) : sorted_(background) {}

  // The nodes that match the filter, sorted. Returns the previous order until the worker finishes;
  // empty before the first result for the shown graph.
  [[nodiscard]] const std::vector<std::uint32_t>& rows(const PanelContext& context, NodeSort sort);
  // Changes with the result of rows().
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }
  // The column scales for the last result of rows().
  [[nodiscard]] const ColumnScales& scales() const noexcept { return scales_; }

 private:
  struct Key {
    GraphViewModelKey view_model;
    NodeSort sort;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Sorted {
    model::GraphKey graph;
    std::vector<std::uint32_t> nodes;
    ColumnScales scales{};
  };

  AsyncValue<Key, Sorted> sorted_;
  std::optional<Key> requested_;
  std::shared_ptr<const Sorted> shown_;  // source of rows_
  std::vector<std::uint8_t> matches_;
  std::vector<std::uint32_t> rows_;
  std::uint64_t revision_ = 0;
  ColumnScales scales_{};
};

}  // namespace reprise::viewer
