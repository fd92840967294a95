// Candidates: other executables of a replica, made from another lowering of the same recording,
// that tuning measures and may select. They use the replica's current bindings and, if it is large
// enough, its slab. Threads: under CompiledGraph::lock_updates(), while the replica is pinned
// resident; the caller holds no other lock.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/graph/compiled_graph.hpp"

namespace reprise::detail {

// The replica's current addresses, scalars and disabled nodes, for `plan`, with transients at
// `transients`.
[[nodiscard]] Bindings bindings_for(GraphReplica& replica, const Plan& plan, std::byte* transients);

// Throws OutOfMemory, also if `plan` needs a larger slab and the graph's memory goal forbids that;
// SlabExhausted.
[[nodiscard]] std::unique_ptr<GraphExecutable> make_candidate(GraphReplica& replica,
                                                              std::shared_ptr<const Plan> plan);

// Makes an uploaded candidate the graph's executable, with the bindings that were set since it was
// made, and updates the graph's report. Throws Unsupported if the candidate refuses a binding.
void select_candidate(CompiledGraph& graph, std::unique_ptr<GraphExecutable> candidate);

}  // namespace reprise::detail
