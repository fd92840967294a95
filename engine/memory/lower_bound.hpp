// A size that no placement of the transients in one slab can fall below. Knows no device.
#pragma once

#include <cstdint>

#include "memory/use_order.hpp"

namespace reprise::detail {

// Nodes of one level (longest way from a root, or to a leaf) are unordered, also where an edge that skips levels counts as
// a node of each; so the buffers that live across one level all need bytes of their own. Exact for chains. O(nodes + edges + uses).
[[nodiscard]] std::uint64_t slab_lower_bound(const LoweredGraph& lowered, const TransientUses& uses, const UseOrder& order);

}  // namespace reprise::detail
