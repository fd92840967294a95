// A topological order of a graph some of whose edges lead backwards, and the error where there is
// none. Pure functions.
#pragma once

#include <span>

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

// `forward` plus the edges `more`, whose `from` may be higher than `to`, as a schedule in
// topological order: of the nodes that may come next, always the lowest. Throws CyclicDependency
// naming the commands of one cycle.
[[nodiscard]] DependencyGraph order_topologically(const Recording& recording,
                                                  const DependencyGraph& forward,
                                                  std::span<const Edge> more);

// Throws it for commands of which each must come before the next, and the last before the first.
[[noreturn]] void throw_cycle(const Recording& recording, std::span<const std::uint32_t> commands);

}  // namespace reprise::detail
