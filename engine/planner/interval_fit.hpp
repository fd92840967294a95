// Fast packings of lifetimes that inspect no pairs of buffers, for lists of any length. Knows no
// device. Threads: pure functions.
#pragma once

#include <span>

#include "planner/lifetime_cliques.hpp"

namespace reprise::detail {

// The packing with the lowest peak of: skyline packings in several orders, and a best-fit sweep in
// order of time that prefers bytes below `target`. Returns the first packing whose peak is at most
// `target`. Offsets are by buffer. O(n log n).
[[nodiscard]] Packing fit_intervals(const LifetimeCliques& cliques, std::span<const PackItem> items,
                                    std::uint64_t target);

}  // namespace reprise::detail
