// A packing that keeps the offsets of an earlier packing where possible. Knows no device. Threads:
// pure functions.
#pragma once

#include <span>

#include "planner/lifetime_cliques.hpp"

namespace reprise::detail {

// `earlier` is by item; kUnplaced: the item has no earlier offset. An item keeps its offset if the
// offset is a multiple of its alignment and the item overlaps no kept item that starts earlier, or
// that starts at the same time and is larger. The other items are placed by best fit, largest
// first. O(n log n), plus O(n log n) for each moved item.
[[nodiscard]] Packing keep_offsets(const LifetimeCliques& cliques, std::span<const PackItem> items,
                                   std::span<const std::uint64_t> earlier);

}  // namespace reprise::detail
