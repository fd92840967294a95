// Packings of lifetimes without a look at pairs: for lists of any length. Knows no device. Threads:
// pure functions.
#pragma once

#include <span>

#include "planner/lifetime_cliques.hpp"

namespace reprise::detail {

// The lowest of: on top of everything in its sections, in several orders; and in order of time,
// into the tightest free stretch below `target`, or on top. Offsets by buffer. O(n log n). Ends as
// soon as one is not above `target`.
[[nodiscard]] Packing fit_intervals(const LifetimeCliques& sections,
                                    std::span<const PackItem> items, std::uint64_t target);

}  // namespace reprise::detail
