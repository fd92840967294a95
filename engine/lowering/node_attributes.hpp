// The programmatic edges of a lowered graph. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"

namespace reprise::detail {

// Makes all edges into a node programmatic if the node waits itself and all of its predecessors are
// kernels. Ordering is transitive: a successor with a full edge starts after the node and its
// predecessors end; a successor with programmatic edges waits for them before it ends. Mixing both
// kinds on one node is slower than full edges only, so the pass marks all edges or none.
void mark_programmatic_edges(std::span<const NodeStart> starts, LoweredGraph& graph);

[[nodiscard]] bool has_programmatic_starts(const LoweredGraph& graph);

// True if every programmatic start in `graph` is allowed by `hints`.
[[nodiscard]] bool allows_programmatic_starts(const LoweredGraph& graph, const NodeHints& hints);

}  // namespace reprise::detail
