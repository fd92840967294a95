// Passes over a dependency graph under construction: transitive reduction and removal of joins.
// Threads: pure functions.
#pragma once

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

enum class ReduceScope : std::uint8_t { AllEdges, EdgesOfJoins };

// Removes edges that longer paths imply. Exact up to kExactReductionCommands nodes; beyond, within
// a linear edge budget. Sets redundant_edges_left to the number of edges that were not decided.
void reduce(DependencyGraph& dependencies, ReduceScope scope = ReduceScope::AllEdges);

// Replaces joins by direct edges, except joins that save edges. Renumbers the nodes of the
// remaining edges.
[[nodiscard]] DependencyGraph drop_joins(const DependencyGraph& dependencies);

}  // namespace reprise::detail
