// A packing that leaves buffers where an earlier one had them. Knows no device. Threads: pure
// functions.
#pragma once

#include <span>

#include "planner/lifetime_cliques.hpp"

namespace reprise::detail {

// `earlier`: by item, kUnplaced where there is none. An item stays unless its offset is no multiple
// of its alignment, or it would lie on one that stays and begins before it, or on one that is
// larger and begins with it. The others go, the largest first, into the tightest gaps. O(n log n),
// and O(n) for each that moves.
[[nodiscard]] Packing keep_offsets(const LifetimeCliques& sections, std::span<const PackItem> items,
                                   std::span<const std::uint64_t> earlier);

}  // namespace reprise::detail
