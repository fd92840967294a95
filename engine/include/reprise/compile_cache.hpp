// CompileCacheReport: the state of a device's plan cache, which stores dependencies, lowering and
// placement of recordings. Threads: values.
#pragma once

#include <cstdint>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

// Recordings have equal structure if they agree in the bytes that each command accesses, barriers,
// edges, sizes of transients and the requested lowering. What the commands do, and which buffers
// they use, does not matter. A structure is stored from its second compile on.
struct CompileCacheReport {
  std::uint64_t hits = 0;        // compiles whose structure was found, after a full comparison
  std::uint64_t misses = 0;      // other compiles
  std::uint64_t evictions = 0;   // structures that were removed to stay within the budget
  std::uint64_t structures = 0;  // currently stored
  std::uint64_t bytes = 0;       // used by them
  std::uint64_t budget = 0;      // maximum of `bytes` (Device::set_compile_cache_budget)
};

}  // namespace reprise::inline REPRISE_ABI
