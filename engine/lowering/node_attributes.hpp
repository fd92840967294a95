// What a lowered graph gets besides nodes and edges: how urgent each node is, and which edges let
// their node start early. Pure functions; know no device.
#pragma once

#include <cstdint>
#include <span>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"

namespace reprise::detail {

// The longer the way from a node to the last leaf (`costs` in ns by schedule node), the more
// urgent.
void set_priorities(const DependencyGraph& dependencies, std::span<const std::uint32_t> costs,
                    LoweredGraph& graph);

// The edges into a node that waits itself for what it comes after, where all of that are kernels.
// An end seen so is the end of all before: a node with a full edge starts after them, and one with
// early edges has waited for them before it ends. Only some edges of a node early are slower than
// none.
void mark_programmatic_edges(std::span<const NodeStart> starts, LoweredGraph& graph);

[[nodiscard]] bool has_programmatic_starts(const LoweredGraph& graph);

// True if every node that starts early in `graph` says of itself that it may.
[[nodiscard]] bool may_start_programmatically_as(const LoweredGraph& graph, const NodeHints& hints);

}  // namespace reprise::detail
