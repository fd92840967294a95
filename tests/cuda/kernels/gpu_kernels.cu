// Kernels of GPU-only tests. The host device's variants omit unsupported features.
#include <reprise_kernel.hpp>

#ifdef __CUDACC__
#include <cooperative_groups.h>
#define GPU_UNROLL _Pragma("unroll")
#else
#define GPU_UNROLL
#endif

#include "gpu_types.hpp"

REPRISE_KERNEL(gpu_add, (float* y, float a, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] + a;
}

// Runs `rounds` steps on `io` alone: long-running work.
REPRISE_KERNEL(gpu_churn, (unsigned* io, unsigned rounds, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = io[i];
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u;
  io[i] = value;
}

REPRISE_KERNEL(gpu_count, (unsigned long long* counter)) { *counter = *counter + 1; }

// As gpu_count; loaded with PTX that is not its own.
REPRISE_KERNEL(gpu_count_without_ptx, (unsigned long long* counter)) { *counter = *counter + 1; }

// Writes to `address`; an invalid address loses the device.
REPRISE_KERNEL(gpu_poke, (unsigned long long address)) { *reinterpret_cast<int*>(address) = 1; }

// A parameter beyond the old limit of 4,096 bytes.
REPRISE_KERNEL(gpu_big, (reprise_test::BigParameter values, unsigned* sum)) {
  unsigned total = 0;
  for (unsigned i = 0; i < reprise_test::kBigCount; ++i) total += values.at[i];
  *sum = total;
}

// Needs all values at once, in more than 128 registers.
REPRISE_KERNEL(gpu_many_registers, (const unsigned* in, unsigned* out, unsigned rounds)) {
  constexpr int kCount = 160;
  unsigned values[kCount];
  GPU_UNROLL
  for (int i = 0; i < kCount; ++i) values[i] = in[i];
  for (unsigned round = 0; round < rounds; ++round) {
  GPU_UNROLL
    for (int i = 0; i < kCount; ++i) values[i] += values[(i + 7) % kCount] * 3u + round;
  }
  GPU_UNROLL
  for (int i = 0; i < kCount; ++i) out[i] = values[i];
}

// Writes each block's rank in its cluster; 999 if compiled for a GPU without clusters.
REPRISE_KERNEL(gpu_cluster_ranks, (unsigned* ranks)) {
  unsigned rank = 999;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  ranks[blockIdx.x] = rank;
}

// Every block increments the counter, synchronises with all others, and writes the counter it then
// reads: the number of blocks.
REPRISE_KERNEL(gpu_meet, (unsigned* counter, unsigned* seen)) {
#ifdef __CUDACC__
  atomicAdd(counter, 1u);
  cooperative_groups::this_grid().sync();
  seen[blockIdx.x] = atomicAdd(counter, 0u);
#else
  seen[blockIdx.x] = *counter;
#endif
}

// Increments the counter and sets the condition `on` unless the count is a multiple of `end`.
REPRISE_KERNEL(gpu_count_to, (unsigned long long* counter, unsigned end, reprise_condition on)) {
  const unsigned long long count = *counter + 1;
  *counter = count;
  reprise_set_condition(on, count % end != 0 ? 1u : 0u);
}
