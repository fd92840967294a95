// The frame's two halves, a kernel before a graph's roots that are kernels and one after its leaves
// that are: which of them a graph is faster with, by how many these are and what else there is.
// Pure functions; know no device. The numbers behind them are in engine/README.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

struct EntryExit {
  bool begin = false, end = false;

  [[nodiscard]] bool any() const noexcept { return begin || end; }
  friend bool operator==(const EntryExit&, const EntryExit&) = default;
};

// FullKernel: one with so many threads that they fill a GPU. Other: copies, callbacks, ops, and
// what runs recordings.
enum class NodeWork : std::uint8_t { Kernel, FullKernel, Fill, Other };

[[nodiscard]] constexpr bool is_kernel(NodeWork work) noexcept {
  return work == NodeWork::Kernel || work == NodeWork::FullKernel;
}

// By schedule node.
[[nodiscard]] std::vector<NodeWork> works_of(const Recording& recording,
                                             const DependencyGraph& dependencies);

// One side of a graph, its roots or its leaves.
struct GraphSide {
  std::uint32_t kernels = 0, full_kernels = 0, fills = 0, others = 0;
};

struct GraphEnds {
  GraphSide roots, leaves;
};

// Of the graph that has the order of its lanes besides its needed edges. `before`: by schedule
// node, the one before it in its lane or kNone; empty: there are no lanes. `works`: by schedule
// node; empty: all are kernels that fill nothing.
[[nodiscard]] GraphEnds count_ends(const DependencyGraph& dependencies,
                                   std::span<const std::uint32_t> before,
                                   std::span<const NodeWork> works);

[[nodiscard]] EntryExit choose_entry_exit(const GraphEnds& ends);

}  // namespace reprise::detail
