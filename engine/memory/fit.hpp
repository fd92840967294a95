// Two fast placements of transients in a slab. Both are correct for every graph; their peaks
// differ. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/reachability_index.hpp"

namespace reprise::detail {

struct Fit {
  std::vector<std::uint64_t> offsets;  // by transient; 0 for a transient without uses
  std::uint64_t slab_bytes = 0;
};

// Best fit in creation order of the first uses: each transient takes the smallest region of the
// slab whose previous owners have completed. About O(transients * chains).
[[nodiscard]] Fit fit_by_first_use(const TransientUses& uses, const ReachabilityIndex& order);

// Best fit by descending size, between the transients that may not share bytes. O(transients^2).
[[nodiscard]] Fit fit_by_size(const TransientUses& uses, const ReachabilityIndex& order);

}  // namespace reprise::detail
