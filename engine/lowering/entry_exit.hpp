// Entry and exit kernels: one kernel before the root kernels and one after the leaf kernels of a
// graph. Decides by number and kind of the roots and leaves whether each speeds up a launch. Knows
// no device; measurements: engine/docs/design/entry-exit.md. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

struct EntryExit {
  bool entry = false, exit = false;

  [[nodiscard]] bool any() const noexcept { return entry || exit; }
  friend bool operator==(const EntryExit&, const EntryExit&) = default;
};

// FullKernel: enough threads to fill a GPU. Other: copies, callbacks, ops and commands with bodies.
enum class NodeWork : std::uint8_t { Kernel, FullKernel, Fill, Other };

[[nodiscard]] constexpr bool is_kernel(NodeWork work) noexcept {
  return work == NodeWork::Kernel || work == NodeWork::FullKernel;
}

// By dependency node.
[[nodiscard]] std::vector<NodeWork> node_works(const Recording& recording,
                                               const DependencyGraph& dependencies);

// The roots or the leaves of a graph, by kind of work.
struct GraphSide {
  std::uint32_t kernels = 0, full_kernels = 0, fills = 0, others = 0;
};

struct GraphEnds {
  GraphSide roots, leaves;
};

// Counts the roots and leaves of the graph of needed edges and lane order. `before`: by dependency
// node, the previous node of its lane or kNone; empty: no lanes. `works`: by dependency node;
// empty: all nodes are kernels that do not fill the GPU.
[[nodiscard]] GraphEnds count_ends(const DependencyGraph& dependencies,
                                   std::span<const std::uint32_t> before,
                                   std::span<const NodeWork> works);

[[nodiscard]] EntryExit choose_entry_exit(const GraphEnds& ends);

}  // namespace reprise::detail
