// Topological sort of a graph with backward edges, and the error for cycles. Threads: pure
// functions.
#pragma once

#include <span>

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

// Returns `forward` plus the edges `extra` (whose `from` may exceed `to`) in topological order; of
// the ready nodes, the lowest comes first. Throws CyclicDependency naming the commands of one
// cycle.
[[nodiscard]] DependencyGraph order_topologically(const Recording& recording,
                                                  const DependencyGraph& forward,
                                                  std::span<const Edge> extra);

// Throws CyclicDependency. Each of `commands` must precede the next one, and the last must precede
// the first.
[[noreturn]] void throw_cycle(const Recording& recording, std::span<const std::uint32_t> commands);

}  // namespace reprise::detail
