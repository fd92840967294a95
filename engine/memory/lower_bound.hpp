// A lower bound of the size of a slab. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>

#include "memory/transient_uses.hpp"

namespace reprise::detail {

// The maximum over three kinds of levels: the length of the longest path from a root, the length of
// the longest path to a leaf, and the position in creation order. If all uses of one transient
// precede all uses of another, the levels of the first are all lower. Transients whose uses span a
// common level therefore cannot share bytes. Exact for chains. O(nodes + edges + uses).
[[nodiscard]] std::uint64_t slab_lower_bound(const LoweredGraph& lowered,
                                             const TransientUses& uses);

}  // namespace reprise::detail
