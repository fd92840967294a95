// Kernels of the forms that a persistent kernel has to imitate. Each writes all `n` words of `out`
// and reads words of `in`.
#include <reprise_kernel.hpp>

namespace {

__device__ unsigned index_in_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned hash_of(unsigned value) { return value * 2654435761u + (value >> 7); }

// Not inlined, so that the kernel calls it.
__device__ __noinline__ unsigned steps_of(unsigned value, unsigned steps) {
  for (unsigned i = 0; i < steps; ++i) value = hash_of(value) ^ i;
  return value;
}

}  // namespace

// Must not be contracted.
REPRISE_KERNEL(seg_multiply_add, (const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i >= n) return;
  const float a = static_cast<float>(in[i] % 1000) * 0.1f, b = static_cast<float>(in[n - 1 - i]);
  out[i] = __float_as_uint(a * b + 0.3f) ^ __double2int_rn(a * 0.7 + b);
}

// Each thread reads, and adds to, the word that a word of `places` names.
REPRISE_KERNEL(seg_gather,
               (unsigned* out, const unsigned* in, const unsigned* places, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i < n) atomicAdd(&out[places[i]], in[places[i]] + 1);
}

// Each block works on a tile of an image.
REPRISE_KERNEL(seg_pixel, (const unsigned* in, unsigned* out, unsigned width, unsigned height)) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = hash_of(in[y * width + x]) + blockIdx.y;
}

// Threads return before a barrier.
REPRISE_KERNEL(seg_early_return, (const unsigned* in, unsigned* out, unsigned n)) {
  __shared__ unsigned kept[256];
  const unsigned i = index_in_grid();
  if (i >= n) return;
  if (in[i] % 5 == 0) {
    out[i] = 5;
    kept[threadIdx.x] = 0;
    return;
  }
  kept[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = hash_of(kept[threadIdx.x]) + blockIdx.x;
}

// How often a barrier is reached depends on the data.
REPRISE_KERNEL(seg_barriers_by_data, (const unsigned* in, unsigned* out, unsigned n)) {
  __shared__ unsigned kept[256];
  const unsigned i = index_in_grid(), threads = blockDim.x;
  unsigned value = i < n ? in[i] : 0;
  for (unsigned round = 0; round < in[blockIdx.x] % 4; ++round) {
    kept[threadIdx.x] = value;
    __syncthreads();
    value += kept[(threadIdx.x + 1) % threads];
    __syncthreads();
  }
  if (i < n) out[i] = value;
}

REPRISE_KERNEL(seg_coordinates, (const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x,
                 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  if (i < n)
    out[i] = in[i] + threadIdx.x * 3 + threadIdx.y * 5 + threadIdx.z * 7 + blockIdx.z * 11 +
             gridDim.y * blockDim.z;
}

// Eight barriers between accesses to shared memory.
REPRISE_KERNEL(seg_block_sum, (const unsigned* in, unsigned* out, unsigned n)) {
  __shared__ unsigned sums[256];
  const unsigned i = index_in_grid();
  sums[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (i < n) out[i] = sums[0] ^ in[i];
}

REPRISE_KERNEL(seg_reverse, (const unsigned* in, unsigned* out, unsigned n)) {
  REPRISE_DYNAMIC_SHARED(unsigned, kept);
  const unsigned i = index_in_grid();
  kept[threadIdx.x] = i < n ? in[i] : 7;
  __syncthreads();
  if (i < n) out[i] = kept[blockDim.x - 1 - threadIdx.x];
}

// Partial warps: the lanes that are there add up their values.
REPRISE_KERNEL(seg_lanes, (const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i >= n) return;
  const unsigned lanes = __activemask();
  const unsigned first = __shfl_sync(lanes, in[i], 0);
  out[i] = first + __popc(__ballot_sync(lanes, (in[i] & 1) != 0));
}

// Whole warps, and then shared memory for their sums.
REPRISE_KERNEL(seg_warp_sum, (const unsigned* in, unsigned* out, unsigned n)) {
  __shared__ unsigned sums[8];
  const unsigned i = index_in_grid();
  unsigned value = i < n ? in[i] : 0;
  for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(~0u, value, by);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (i < n) out[i] = value + sums[(threadIdx.x / 32 + 1) % (blockDim.x / 32)];
}

// Loads that the GPU may cache as constant.
REPRISE_KERNEL(seg_read_only,
               (const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i < n) out[i] = __ldg(in + (i * 37 + 11) % n) + in[(i * 5) % n];
}

// Needs `out` to be zero, or adds to it.
REPRISE_KERNEL(seg_histogram, (const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i < n) atomicAdd(out + in[i] % n, 1u);
}

struct SegmentTable {
  unsigned words[200];
};
REPRISE_KERNEL(seg_large_parameter,
               (SegmentTable table, const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i < n) out[i] = table.words[in[i] % 200] + table.words[i % 200] + in[i];
}

// A local array with computed indices.
REPRISE_KERNEL(seg_local_array, (const unsigned* in, unsigned* out, unsigned n)) {
  unsigned kept[32];
  const unsigned i = index_in_grid();
  if (i >= n) return;
  for (unsigned k = 0; k < 32; ++k) kept[k] = in[(i + k) % n];
  unsigned at = in[i] % 32;
  for (unsigned k = 0; k < 8; ++k) at = kept[at] % 32;
  out[i] = kept[at] + at;
}

REPRISE_KERNEL(seg_calls, (const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i < n) out[i] = steps_of(in[i], in[i] % 6) + steps_of(i, 3);
}

REPRISE_KERNEL(seg_switch, (const unsigned* in, unsigned* out, unsigned n)) {
  const unsigned i = index_in_grid();
  if (i >= n) return;
  unsigned value = in[i];
  switch (value % 9) {
    case 0: value += 1; break;
    case 1: value *= 3; break;
    case 2: value ^= 0x55; break;
    case 3: value = ~value; break;
    case 4: value <<= 3; break;
    case 5: value >>= 2; break;
    case 6: value -= i; break;
    default: value = hash_of(value); break;
  }
  out[i] = value;
}
