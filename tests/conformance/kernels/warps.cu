// Kernels that use functions of warps and tiles of cooperative groups.
#include <cooperative_groups.h>

#include <reprise_kernel.hpp>

// out[block] = the sum of the block's values: a reduction in each warp, then one over the warps.
REPRISE_KERNEL(conf_warp_sum, (const float* in, float* out)) {
  __shared__ float sums[32];
  float value = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int by = warpSize / 2; by > 0; by /= 2) value += __shfl_down_sync(~0u, value, by);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x >= warpSize) return;
  value = threadIdx.x < blockDim.x / warpSize ? sums[threadIdx.x] : 0;
  for (int by = warpSize / 2; by > 0; by /= 2) value += __shfl_xor_sync(~0u, value, by);
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

constexpr int kShuffles = 7;

// out[kShuffles * i + s] = what lane i gets from shuffle s.
REPRISE_KERNEL(conf_shuffles, (const long long* in, long long* out)) {
  const int lane = threadIdx.x;
  const long long mine = in[lane];
  long long* const to = out + kShuffles * lane;
  to[0] = __shfl_sync(~0u, mine, 5);
  to[1] = __shfl_sync(~0u, mine, lane * 3, 8);
  to[2] = __shfl_up_sync(~0u, mine, 3);
  to[3] = __shfl_up_sync(~0u, mine, 3, 16);
  to[4] = __shfl_down_sync(~0u, mine, 2, 4);
  to[5] = __shfl_xor_sync(~0u, mine, 9);
  to[6] = __shfl_xor_sync(~0u, mine, 4, 8);
}

// Votes, matches and reductions of 64 threads, whose two warps take different branches: the odd
// lanes of the first, and the first 20 lanes of the second.
REPRISE_KERNEL(conf_warp_functions, (const int* in, unsigned* out)) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int mine = in[threadIdx.x];
  const unsigned mask = warp == 0 ? 0xaaaaaaaau : 0x000fffffu;
  unsigned* const to = out + 14 * threadIdx.x;
  for (int i = 0; i < 14; ++i) to[i] = 0;
  if ((mask >> lane & 1) == 0) return;
  to[0] = __ballot_sync(mask, mine > 3);
  to[1] = static_cast<unsigned>(__any_sync(mask, mine == 7) != 0);
  to[2] = static_cast<unsigned>(__all_sync(mask, mine >= 0) != 0);
  const unsigned active = __activemask();  // a GPU may have split the lanes further
  to[12] = (active & ~mask) == 0 && (active >> lane & 1) != 0 ? 1 : 0;
  __syncwarp(mask);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  to[3] = __reduce_add_sync(mask, static_cast<unsigned>(mine));
  to[4] = static_cast<unsigned>(__reduce_add_sync(mask, mine));
  to[5] = __reduce_min_sync(mask, static_cast<unsigned>(mine));
  to[6] = static_cast<unsigned>(__reduce_max_sync(mask, -mine));
  to[7] = __reduce_and_sync(mask, static_cast<unsigned>(mine));
  to[8] = __reduce_or_sync(mask, static_cast<unsigned>(mine));
  to[9] = __reduce_xor_sync(mask, static_cast<unsigned>(mine));
#endif
  to[10] = __match_any_sync(mask, mine);
  int same = 0;
  to[11] = __match_all_sync(mask, mine / 100, &same);
  to[13] = static_cast<unsigned>(same != 0);
}

// Lanes 0-15 and 16-31 of each warp go through different loops with barriers of their half.
REPRISE_KERNEL(conf_diverged_halves, (unsigned* out)) {
  const unsigned lane = threadIdx.x % 32, half = lane / 16;
  const unsigned mask = half == 0 ? 0x0000ffffu : 0xffff0000u;
  unsigned value = lane;
  for (unsigned round = 0; round < 3 + 4 * half; ++round) {
    value += __shfl_sync(mask, value, static_cast<int>(round), 16);
    __syncwarp(mask);
  }
  __syncwarp();
  out[blockIdx.x * blockDim.x + threadIdx.x] = __shfl_xor_sync(~0u, value, 16);
}

// Threads from `n` on end at once; the others reduce with a full mask. out[warp] = the sum of i + 1
// over the warp's threads i < n.
REPRISE_KERNEL(conf_warp_tail, (unsigned* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned taking_part = __ballot_sync(~0u, i < n);
  if (i >= n) return;
  unsigned value = i + 1, sum = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((taking_part >> lane & 1) != 0)
      sum += __shfl_sync(taking_part, value, static_cast<int>(lane));
  }
  if (i % 32 == 0) out[i / 32] = sum;
}

// out[i]: the rank of thread i in its tile of 8, the sum over the tile, the ballot of the odd ones,
// and the tile's number.
REPRISE_KERNEL(conf_tiles, (unsigned* out)) {
  namespace cg = cooperative_groups;
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const unsigned i = block.thread_rank();
  unsigned sum = i;
  for (unsigned by = tile.size() / 2; by > 0; by /= 2) sum += tile.shfl_xor(sum, by);
  tile.sync();
  out[4 * i] = tile.thread_rank();
  out[4 * i + 1] = sum;
  out[4 * i + 2] = tile.ballot(i % 2 == 1) & 0xff;
  out[4 * i + 3] = tile.meta_group_rank() + 100 * tile.meta_group_size();
  block.sync();
}
