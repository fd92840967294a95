// The hashes of a plan. They exclude addresses, source locations and host pointers. Threads: pure
// functions.
#pragma once

#include <cstdint>

#include "memory/placement.hpp"
#include "plan/hash.hpp"

namespace reprise::detail {

// Covers buffers, kernels, labels, and commands with their values and ranges.
[[nodiscard]] Hash64 hash_recording(const Recording& recording);
// Adds the needed edges with their causes.
[[nodiscard]] std::uint64_t hash_dependencies(const Hash64& recording,
                                              const DependencyGraph& dependencies);
// Combines two hashes, in this order.
[[nodiscard]] std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second);
// Covers the results of lowering and memory planning.
[[nodiscard]] std::uint64_t hash_lowering(const LoweredGraph& lowered, const Placement& placement);
// Like hash_lowering(), restricted to device-visible properties: excludes lane numbers and edge
// origins.
[[nodiscard]] std::uint64_t hash_execution(const LoweredGraph& lowered, const Placement& placement);

}  // namespace reprise::detail
