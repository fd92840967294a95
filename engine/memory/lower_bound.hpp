// A size that no placement of the transients in one slab can fall below. Knows no device.
#pragma once

#include <cstdint>

#include "memory/transient_uses.hpp"

namespace reprise::detail {

// A level is the longest way from a root, or to a leaf, or the place in the order of creation.
// Where all uses of one transient precede all uses of another, the first one's levels are all
// lower; so transients that have uses on both sides of a level, or on it, pairwise may not share.
// Exact for chains. O(nodes + edges + uses).
[[nodiscard]] std::uint64_t slab_lower_bound(const LoweredGraph& lowered,
                                             const TransientUses& uses);

}  // namespace reprise::detail
