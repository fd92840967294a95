// The maximum-weight antichain of a partial order: elements of which no two are comparable, with
// the max total weight. It is the complement of a minimum cut (Dilworth's theorem with
// weights), and the cut follows from a maximum flow. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace reprise::detail {

// Pairs (earlier, later) of elements. Their transitive closure is the order, so they need not
// contain what others imply.
using OrderedPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Returns the elements, ascending; those without weight are left out. The weights add up to less
// than 2^62. Milliseconds for a thousand elements.
[[nodiscard]] std::vector<std::uint32_t> max_weight_antichain(
    std::span<const std::uint64_t> weights, const OrderedPairs& pairs);

}  // namespace reprise::detail
