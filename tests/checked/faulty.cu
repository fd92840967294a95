// Kernels with and without forbidden accesses, built with REPRISE_CHECKED_KERNELS.
#include <reprise_kernel.hpp>

struct Pair {
  float first, second;
};

// x[index] of every thread, in elements; the fault is the index.
REPRISE_KERNEL(checked_write, (float* x, int index)) {
  x[index + static_cast<int>(threadIdx.x)] = 1;
}
REPRISE_KERNEL(checked_read, (const float* x, float* out, int index)) { *out = x[index]; }
REPRISE_KERNEL(checked_cast, (const float* x)) { const_cast<float*>(x)[3] = 1; }
REPRISE_KERNEL(checked_atomic, (unsigned* x, int index)) { atomicAdd(&x[index], 1u); }
REPRISE_KERNEL(checked_misaligned, (float* x)) {
  *reinterpret_cast<float*>(reinterpret_cast<char*>(x) + 2) = 1;
}
// Keeps an address for a later dispatch, which does not declare its buffer.
REPRISE_KERNEL(checked_keep, (float* x, unsigned long long* kept)) {
  x[0] = 1;
  *kept = reinterpret_cast<unsigned long long>(x);
}
REPRISE_KERNEL(checked_use_kept, (const unsigned long long* kept)) {
  reinterpret_cast<float*>(*kept)[2] = 1;
}
// Thread 5 of block 1 writes behind x, after the threads have waited for each other.
REPRISE_KERNEL(checked_after_barrier, (float* x, unsigned n)) {
  __syncthreads();
  const bool is_wrong = blockIdx.x == 1 && threadIdx.x == 5;
  x[is_wrong ? n : blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
REPRISE_KERNEL(checked_shared, (float* out, unsigned index)) {
  extern __shared__ float requested[];
  requested[index] = 1;
  *out = requested[0];
}
REPRISE_KERNEL(checked_divide, (int* x, int by)) { *x /= by; }
REPRISE_KERNEL(checked_wild, (const unsigned long long* address)) {
  *reinterpret_cast<volatile int*>(*address) = 1;
}

REPRISE_KERNEL(checked_right, (float* x)) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
// On the host device, each block writes the words of the other one: its PTX says something else.
REPRISE_KERNEL(checked_other_code, (float* x)) {
#ifdef __CUDACC__
  const unsigned block = blockIdx.x;
#else
  const unsigned block = 1 - blockIdx.x;
#endif
  x[block * blockDim.x + threadIdx.x] = 1;
}
// The same for elements of a matrix of 8 columns, by blocks of 3 columns: two columns of blocks
// write each other's elements.
REPRISE_KERNEL(checked_tiles, (float* x, bool is_wrong)) {
#ifdef __CUDACC__
  const unsigned block = blockIdx.x;
#else
  const unsigned block = is_wrong && blockIdx.x < 2 ? 1 - blockIdx.x : blockIdx.x;
#endif
  const unsigned column = block * 3 + threadIdx.x, row = blockIdx.y * 2 + threadIdx.y;
  if (column < 8) x[row * 8 + column] = 1;
}

// Memory of every kind that needs no declaration, and all that is declared.
__constant__ float factors[4] = {1, 2, 3, 4};
__device__ float scaled(const Pair& pair, unsigned i) {
  return pair.first * factors[i % 4] + pair.second;
}
REPRISE_KERNEL(checked_correct, (const float* in, float* out, Pair pair, unsigned n)) {
  __shared__ float tile[64];
  extern __shared__ float sums[];
  float local[8];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 0; k < 8; ++k) local[k] = i < n ? in[i] : 0;
  tile[threadIdx.x] = local[threadIdx.x % 8];
  __syncthreads();
  sums[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  const float other = __shfl_xor_sync(~0u, sums[threadIdx.x], 1);
  if (i < n) out[i] = scaled(pair, i) + other;
}
