// The lowered nodes that access each transient buffer: the input of the other parts of memory/.
// Knows no device. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

struct Transient {
  std::uint32_t buffer = 0;                    // in recording.buffers
  std::uint64_t bytes = 0;                     // rounded up to the alignment
  std::uint32_t first_use = 0, use_count = 0;  // in TransientUses::nodes
};

struct TransientUses {
  std::vector<Transient> transients;  // in order of recording.buffers
  std::vector<std::uint32_t> nodes;   // lowered nodes, ascending and unique within a transient
  // Transients that have uses, in creation order of their first use.
  std::vector<std::uint32_t> by_first_use;
  [[nodiscard]] std::span<const std::uint32_t> uses_of(std::uint32_t transient) const {
    return {nodes.data() + transients[transient].first_use, transients[transient].use_count};
  }
};

// `alignment` is a power of two. O(buffers + nodes + accesses), or O(buffers) without transients.
[[nodiscard]] TransientUses collect_transient_uses(const Recording& recording,
                                                   const DependencyGraph& dependencies,
                                                   const LoweredGraph& lowered,
                                                   std::uint32_t alignment);

}  // namespace reprise::detail
