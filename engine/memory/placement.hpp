// memory: places transient buffers in one slab. Two transients may share bytes only if edges of the
// lowered graph order every use of one before every use of the other. Adds no edges. Knows no
// device. Threads: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

struct PlacedBuffer {
  std::uint32_t buffer = 0;             // in recording.buffers
  std::uint64_t offset = 0, bytes = 0;  // in the slab
};

struct Placement {
  std::vector<PlacedBuffer> buffers;  // in order of recording.buffers
  std::uint64_t naive_bytes = 0;      // the sum of all transients, without sharing
  std::uint64_t slab_bytes = 0;       // planned
  std::uint64_t lower_bound = 0;      // no placement is smaller
};

// `alignment` applies to every transient and is a power of two. `budget` is the time for a search,
// which runs if fast methods do not reach the lower bound. Without a budget the result is the same
// on every run and machine.
[[nodiscard]] Placement place_transients(const Recording& recording,
                                         const DependencyGraph& dependencies,
                                         const LoweredGraph& lowered, std::uint32_t alignment,
                                         std::chrono::nanoseconds budget = {});

}  // namespace reprise::detail
