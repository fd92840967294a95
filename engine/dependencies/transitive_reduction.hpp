// Passes over a schedule that is being made: what other edges imply, and joins that are not worth a
// node, go. Pure functions.
#pragma once

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

enum class ReduceScope : std::uint8_t { AllEdges, EdgesOfJoins };

// Removes edges that longer paths imply: all of them up to kExactReductionCommands nodes; beyond,
// those whose paths are found at a cost that is linear in the nodes. Sets redundant_edges_left to
// the edges that were not examined to the end.
void reduce(DependencyGraph& dependencies, ReduceScope scope = ReduceScope::AllEdges);

// Replaces joins by edges around them, but those that save edges; `from` and `to` of the rest are
// numbered anew.
[[nodiscard]] DependencyGraph drop_joins(const DependencyGraph& dependencies);

}  // namespace reprise::detail
