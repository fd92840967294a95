// Functions that the host device lacks: those of warps and of whole grids. The declarations make a
// kernel that calls one fail to compile with a message that names the function. GPU-only kernels
// belong inside `#ifdef __CUDACC__`.
#pragma once

namespace reprise::host_kernel {

template <class... T>
inline constexpr bool always_false = false;

}  // namespace reprise::host_kernel

#define REPRISE_WARP_FUNCTIONS(X)                                                                \
  X(__shfl_sync)                                                                                 \
  X(__shfl_up_sync)                                                                              \
  X(__shfl_down_sync) X(__shfl_xor_sync) X(__ballot_sync) X(__any_sync) X(__all_sync)            \
      X(__activemask) X(__syncwarp) X(__match_any_sync) X(__match_all_sync) X(__reduce_add_sync) \
          X(__reduce_min_sync) X(__reduce_max_sync) X(__reduce_and_sync) X(__reduce_or_sync)     \
              X(__reduce_xor_sync)

#define REPRISE_X(name)                                                    \
  template <class... Arguments>                                            \
  int name(const Arguments&...) {                                          \
    static_assert(always_false<Arguments...>,                              \
                  #name " works on a warp; the host device has no warps"); \
    return 0;                                                              \
  }
namespace reprise::host_kernel::language {
REPRISE_WARP_FUNCTIONS(REPRISE_X)
}
#undef REPRISE_X
#undef REPRISE_WARP_FUNCTIONS

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
REPRISE_X(this_thread_block, " is not available on the host device; use __syncthreads()")
REPRISE_X(coalesced_threads, " works on a warp; the host device has no warps")
#undef REPRISE_X

}  // namespace cooperative_groups
