// memory: places transient buffers in one slab. Two may share bytes only if every use of one is
// ordered before every use of the other by edges of the lowered graph. Adds no edge. Knows no
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
  std::uint64_t naive_bytes = 0;      // every transient for itself
  std::uint64_t slab_bytes = 0;       // planned
  std::uint64_t lower_bound = 0;      // no placement can be smaller
};

// `alignment` is of every transient, and a power of two. `budget`: time for a search where quick
// ways do not reach the bound; 0: those alone, whose result is the same on every run and machine.
[[nodiscard]] Placement place_transients(const Recording& recording,
                                         const DependencyGraph& dependencies,
                                         const LoweredGraph& lowered, std::uint32_t alignment,
                                         std::chrono::nanoseconds budget = {});

}  // namespace reprise::detail
