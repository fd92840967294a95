// Functions that the host device lacks: those of whole grids and clusters. The declarations make a
// kernel that calls one fail to compile with a message that names the function. GPU-only kernels
// belong inside `#ifdef __CUDACC__`.
#pragma once

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel {

template <class... T>
inline constexpr bool always_false = false;

}  // namespace reprise::inline REPRISE_ABI::host_kernel

namespace cooperative_groups {

#define REPRISE_X(name, why)                                        \
  template <class... Arguments>                                     \
  int name(const Arguments&...) {                                   \
    static_assert(reprise::host_kernel::always_false<Arguments...>, \
                  "cooperative_groups::" #name why);                \
    return 0;                                                       \
  }
REPRISE_X(this_grid, " synchronises blocks; the host device runs blocks one after another")
REPRISE_X(this_cluster, " synchronises blocks; the host device runs blocks one after another")
REPRISE_X(coalesced_threads, " is not available on the host device; use tiled_partition()")
#undef REPRISE_X

}  // namespace cooperative_groups
