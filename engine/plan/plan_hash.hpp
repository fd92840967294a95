// The hashes of a plan. Pure functions. None covers addresses, source locations or host pointers.
#pragma once

#include <cstdint>

#include "memory/placement.hpp"
#include "plan/hash.hpp"

namespace reprise::detail {

// Of what was recorded: buffers, kernels, labels, commands with their values and ranges.
[[nodiscard]] Hash64 hash_recording(const Recording& recording);
// Of that and the edges it needs, with their causes.
[[nodiscard]] std::uint64_t hash_dependencies(const Hash64& recording,
                                              const DependencyGraph& dependencies);
// One hash of two, in that order.
[[nodiscard]] std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second);
// Of what lanes and memory made of it.
[[nodiscard]] std::uint64_t hash_lowering(const LoweredGraph& lowered, const Placement& placement);
// Of what a device is given of that: not the numbers of lanes, nor why an edge is there.
[[nodiscard]] std::uint64_t hash_execution(const LoweredGraph& lowered, const Placement& placement);

}  // namespace reprise::detail
