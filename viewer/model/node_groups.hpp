// Where the time goes: the nodes of one or more graphs, by kernel, kind, source line or their tree
// of labels. No time counts twice: a node that runs others counts without them (see self_times()).
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/document.hpp"

namespace reprise::model {

// The measured nodes of one graph.
struct NodeTimes {
  const Graph* graph = nullptr;
  std::vector<double> totals;         // ns over all samples, by node
  std::vector<std::uint64_t> counts;  // samples with a time, by node
};
[[nodiscard]] NodeTimes node_times(const GraphEntry& entry);  // of all replays

struct NodeGroup {
  std::string name;  // of the kernel, kind, line or label; without kernel of the kind
  std::uint32_t parent = trace::kNone;  // by label: the group that contains this one
  std::uint32_t depth = 0;
  bool is_label = false;  // by label: it contains further groups
  std::uint64_t nodes = 0, samples = 0;
  double total = 0;                   // ns
  double share = 0;                   // of the total of all graphs
  std::uint32_t graph = 0, node = 0;  // graph (index) and number of its most expensive node
  [[nodiscard]] double mean() const noexcept {
    return samples == 0 ? 0 : total / static_cast<double>(samples);
  }
};

// By total, largest first.
[[nodiscard]] std::vector<NodeGroup> groups_by_kernel(std::span<const NodeTimes> graphs);
[[nodiscard]] std::vector<NodeGroup> groups_by_kind(std::span<const NodeTimes> graphs);
// By the line that created the nodes: "net/layers.py:12", with the folder of the file.
[[nodiscard]] std::vector<NodeGroup> groups_by_source(std::span<const NodeTimes> graphs);

// The tree of labels in preorder. Group 0 is the root; the leaves are the kernels directly under a
// label. Siblings are sorted by total, largest first. Equal paths of several graphs are one group.
[[nodiscard]] std::vector<NodeGroup> groups_by_label(std::span<const NodeTimes> graphs);

}  // namespace reprise::model
