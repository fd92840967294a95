// Sums of blocks of 256 values: by a tree in shared memory, and by shuffles in warps.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(shared_sum, (const float* in, float* out)) {
  __shared__ float sums[256];
  sums[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

REPRISE_KERNEL(warp_sum, (const float* in, float* out)) {
  __shared__ float sums[8];
  float sum = in[blockIdx.x * 256 + threadIdx.x];
  for (unsigned by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < 8 ? sums[threadIdx.x] : 0;
  for (unsigned by = 4; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
