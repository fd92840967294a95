// The two hashes of a plan. Pure functions. Neither covers addresses, source locations or host pointers.
#pragma once

#include <cstdint>

#include "memory/placement.hpp"

namespace reprise::detail {

// Of what was recorded and the edges it needs: buffers, kernels, labels, commands with their values, ranges, edges, causes.
[[nodiscard]] std::uint64_t hash_recording(const Recording& recording, const Schedule& schedule);
// Of what lanes and memory made of it.
// One hash of two, in that order.
[[nodiscard]] std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second);
[[nodiscard]] std::uint64_t hash_lowering(const LoweredGraph& lowered, const Placement& placement);

}  // namespace reprise::detail
