// Comparisons of recordings and of schedules. Pure functions.
#pragma once

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// True only where build_dependencies() gives the same of both: commands that touch the same bytes
// of the buffers of the same numbers, with the same barriers and edges between them. What they do
// there may differ. O(commands + accesses).
[[nodiscard]] bool has_same_order(const Recording& a, const Recording& b);

// True if both have the same nodes with the same edges between them, whatever the nodes run.
// Schedules of the same structure whose nodes are the same kinds of work have the same lowering.
// O(nodes + edges).
[[nodiscard]] bool same_structure(const DependencyGraph& a, const DependencyGraph& b);

}  // namespace reprise::detail
