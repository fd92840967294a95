// find_block_relations: which blocks of a segment's commands depend on which blocks of others, from
// the footprints of their dispatches and the memory of the placed transients. Knows no device.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// By segment of `lowered`: the relations of its nodes, sorted by target, then source. They contain
// every pair of commands that access a common byte, which one of them writes, and between which no
// other command accesses it: ordering these orders all conflicts. Left out are those that others
// imply. Empty for a segment in which each command would wait for whole commands, for one of more
// than 16,384 nodes, and for recordings with barriers, edges or another order than
// Ordering::Inferred, whose meaning does not follow from accesses.
[[nodiscard]] std::vector<std::vector<BlockRelation>> find_block_relations(
    const Recording& recording, const DependencyGraph& dependencies, const LoweredGraph& lowered,
    const Placement& placement);

// Whether relations can take the place of the edges of a recording: there are no barriers and
// edges, and its order is Ordering::Inferred.
[[nodiscard]] bool may_relate_blocks(const Recording& recording);

// Whether block b of each command depends at most on block b of earlier commands of as many blocks.
// Commands of one block can also depend on each other. Each transient has memory of its own here.
[[nodiscard]] bool keeps_blocks_apart(const Recording& recording);

// By dispatch of `commands`: why its blocks have no relations; empty: they can have some.
[[nodiscard]] std::vector<std::string> footprint_problems(const Recording& recording,
                                                          std::span<const std::uint32_t> commands);

}  // namespace reprise::detail
