// Kernels that use shared memory, block barriers and atomics.
#include <reprise_kernel.hpp>

// Transposes a 16 x 16 tile of each block through shared memory.
REPRISE_KERNEL(conf_transpose, (const unsigned* in, unsigned* out, unsigned size)) {
  __shared__ unsigned tile[16][17];
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * size + x];
  __syncthreads();
  const unsigned tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
  out[ty * size + tx] = tile[threadIdx.x][threadIdx.y];
}

// out[block] = the sum of the block's values by tree reduction; blockDim.x is a power of two.
REPRISE_KERNEL(conf_block_sum, (const unsigned* in, unsigned* out)) {
  REPRISE_DYNAMIC_SHARED(unsigned, sums);
  sums[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// Fills `words` words of dynamic shared memory and writes them to `out` in reverse order.
REPRISE_KERNEL(conf_reverse_large, (unsigned* out, unsigned words)) {
  REPRISE_DYNAMIC_SHARED(unsigned, kept);
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) kept[i] = i * 7 + 1;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) out[i] = kept[words - 1 - i];
}

// Reverses the block's values through an array of the usual CUDA form.
REPRISE_KERNEL(conf_reverse_extern, (const double* in, double* out)) {
  extern __shared__ double reversed[];
  reversed[blockDim.x - 1 - threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = reversed[threadIdx.x];
}

// Two names of the same memory: out = 0x01010101 of each thread.
REPRISE_KERNEL(conf_extern_names, (unsigned* out)) {
  extern __shared__ unsigned words[];
  extern __shared__ __align__(16) unsigned char bytes[];
  for (unsigned i = 0; i < 4; ++i) bytes[4 * threadIdx.x + i] = 1;
  out[threadIdx.x] = words[threadIdx.x];
}

// totals: 0 add, 1 min, 2 max, 3 or, 4 and, 5 xor, 6 maximum by compare-and-swap, 7 set to 1 by
// exchange.
REPRISE_KERNEL(conf_atomics, (unsigned* totals, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&totals[0], i);
  atomicMin(&totals[1], i + 5);
  atomicMax(&totals[2], i);
  atomicOr(&totals[3], 1u << (i % 31));
  atomicAnd(&totals[4], ~(1u << (i % 8)));
  atomicXor(&totals[5], i);
  unsigned seen = atomicOr(&totals[6], 0u);
  while (seen < i) {
    const unsigned before = atomicCAS(&totals[6], seen, i);
    if (before == seen) break;
    seen = before;
  }
  atomicExch(&totals[7], 1u);
}

REPRISE_KERNEL(conf_histogram, (const unsigned char* in, unsigned* bins, unsigned n)) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
