// Comparisons of recordings and of dependency graphs. Threads: pure functions.
#pragma once

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// True only if build_dependencies() returns the same graph for both: same accesses, barriers and
// edges, by command and buffer index. The work of the commands may differ. O(commands + accesses).
[[nodiscard]] bool has_same_ordering(const Recording& a, const Recording& b);

// True if both graphs have the same nodes and edges, regardless of the commands. Equal structures
// with equal kinds of work have the same lowering. O(nodes + edges).
[[nodiscard]] bool same_structure(const DependencyGraph& a, const DependencyGraph& b);

}  // namespace reprise::detail
