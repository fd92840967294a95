// The position of a kernel's thread, and the barrier of its block. The variables belong to the
// operating system thread that runs the block; reprise/host_kernel_runtime.hpp sets and restores
// them.
#pragma once

#include <reprise/host_kernel_runtime.hpp>

#include <reprise_host_kernel/vector_types.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel {

namespace language {

// Hidden, so that each shared library has its own.
#define REPRISE_THREAD_VARIABLE inline constinit thread_local __attribute__((visibility("hidden")))
REPRISE_THREAD_VARIABLE uint3 threadIdx{};
REPRISE_THREAD_VARIABLE uint3 blockIdx{};
REPRISE_THREAD_VARIABLE dim3 blockDim{};
REPRISE_THREAD_VARIABLE dim3 gridDim{};

}  // namespace language

REPRISE_THREAD_VARIABLE BlockRun* block_run = nullptr;
#undef REPRISE_THREAD_VARIABLE

// The dynamic shared memory of a block of the including shader file. The build defines it at the
// file's end (list_kernels.cmake).
[[maybe_unused]] static std::byte* dynamic_shared(const HostBlock& block) noexcept;

namespace language {

// Returns after every thread of the block that has not ended has arrived.
inline Vote reprise_meet(bool predicate) {
  const uint3 mine = threadIdx;
  const Vote vote = meet(*block_run, {mine.x, mine.y, mine.z}, predicate);
  threadIdx = mine;
  return vote;
}
inline void __syncthreads() { static_cast<void>(reprise_meet(false)); }
inline int __syncthreads_count(int predicate) {
  return static_cast<int>(reprise_meet(predicate != 0).set);
}
inline int __syncthreads_or(int predicate) { return reprise_meet(predicate != 0).set != 0; }
inline int __syncthreads_and(int predicate) {
  const Vote vote = reprise_meet(predicate != 0);
  return vote.set == vote.arrived;
}

inline void __threadfence() {
#ifdef __SANITIZE_THREAD__  // which models atomic operations but no fences
  static int fence = 0;
  __atomic_fetch_add(&fence, 1, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_block() {}  // all threads of a block share one operating system thread
inline void __threadfence_system() { __threadfence(); }

}  // namespace language
}  // namespace reprise::inline REPRISE_ABI::host_kernel
