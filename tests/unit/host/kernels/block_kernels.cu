// Kernels that exercise the cooperation of the threads of a block.
#include <reprise_kernel.hpp>

// out[block] = sum of the block's part of `in`, by a tree in shared memory.
REPRISE_KERNEL(tree_sum, (const unsigned* in, unsigned* out)) {
  __shared__ unsigned partial[1024];
  const unsigned me = threadIdx.x;
  partial[me] = in[blockIdx.x * blockDim.x + me];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (me < half) partial[me] += partial[me + half];
    __syncthreads();
  }
  if (me == 0) out[blockIdx.x] = partial[0];
}

// Thread i waits at i barriers and then ends; out[i] = the number of threads at its last barrier.
REPRISE_KERNEL(leave_one_by_one, (int* out)) {
  const unsigned me = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[me] = 0;
  for (unsigned round = 0; round < me; ++round) out[me] = __syncthreads_count(1);
}

// Only odd threads use a barrier; the others end before, between and after them.
REPRISE_KERNEL(odd_threads_meet, (unsigned* counter, unsigned* seen)) {
  if (threadIdx.x % 2 == 0) return;
  atomicAdd(counter, 1u);
  __syncthreads();
  seen[threadIdx.x] = *counter;
}

// out[0..2]: the number of threads with a value above 10, whether all have one, whether any has
// one.
REPRISE_KERNEL(vote, (const int* values, int* out)) {
  const int mine = values[threadIdx.x] > 10;
  const int count = __syncthreads_count(mine);
  const int all = __syncthreads_and(mine);
  const int any = __syncthreads_or(mine);
  if (threadIdx.x == blockDim.x - 1) {
    out[0] = count;
    out[1] = all;
    out[2] = any;
  }
}

// Every atomic function on its own counter, by every thread of the grid.
REPRISE_KERNEL(atomics, (int* i, unsigned* u, unsigned long long* w, float* f, double* d)) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], 1);
  atomicSub(&i[1], 2);
  atomicMin(&i[2], -static_cast<int>(me));
  atomicMax(&i[3], static_cast<int>(me));
  atomicAdd(&u[0], 3);
  atomicInc(&u[1], 9);
  atomicDec(&u[2], 9);
  atomicAnd(&u[3], ~(1u << me % 32));
  atomicOr(&u[4], 1u << me % 32);
  atomicXor(&u[5], 1u << me % 32);
  atomicExch(&u[6], 77u);
  if (atomicCAS(&u[7], 0u, me + 1) == 0u) atomicAdd(&u[8], 1u);
  atomicAdd(&w[0], 1ull << 33);
  atomicMax(&w[1], 1ull << (me % 40));
  atomicAdd(&f[0], 0.5f);
  atomicAdd(&d[0], 0.25);
}

struct Pair {
  short a;
  double b;
};

// Writes its parameters as received.
REPRISE_KERNEL(show_parameters, (char c, double d, Pair p, const float* in, float3 v3, float4 v4,
                                 bool b, unsigned short s, double* out)) {
  out[0] = c;
  out[1] = d;
  out[2] = p.a;
  out[3] = p.b;
  out[4] = in[0];
  out[5] = v3.x + 10 * v3.y + 100 * v3.z;
  out[6] = v4.x + 10 * v4.y + 100 * v4.z + 1000 * v4.w;
  out[7] = b ? 1 : 0;
  out[8] = s;
}

REPRISE_KERNEL(nothing, ()) {}

// y[i] += a * x[i]
REPRISE_KERNEL(add_scaled, (int a, const int* x, int* y, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

// *x = *x * 3 + k: the result depends on the order of such steps.
REPRISE_KERNEL(step, (unsigned* x, unsigned k)) { *x = *x * 3 + k; }

// Helpers and math for both compilers.
__device__ __forceinline__ float clamp01(float x) { return min(max(x, 0.0f), 1.0f); }
__constant__ int offsets[3] = {1, 10, 100};
REPRISE_KERNEL(math, (float* out, int* bits)) {
  out[0] = clamp01(-2.0f);
  out[1] = clamp01(7.0f);
  out[2] = rsqrtf(4.0f);
  out[3] = fmaf(2.0f, 3.0f, 4.0f);
  out[4] = max(1, 2u) + min(-3, 5) + offsets[2];
  bits[0] = __popc(0xf0f0u);
  bits[1] = __clz(1);
  bits[2] = __ffs(8);
  bits[3] = static_cast<int>(__brev(1u) >> 16);
  bits[4] = __float_as_int(1.0f);
}

// out[i] = the lanes that are active in the branch of thread i: the even or the odd ones of its
// warp, inverted in the odd branch so that a compiler does not merge the branches.
REPRISE_KERNEL(active_lanes, (unsigned* out)) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = __activemask();
  } else {
    out[threadIdx.x] = ~__activemask();
  }
}

// Faults of a warp, by `fault`: a mask without the caller, two functions with one mask, and lanes
// that wait for lanes at a barrier.
REPRISE_KERNEL(warp_faults, (int fault)) {
  const unsigned lane = threadIdx.x % 32;
  if (fault == 0 && lane == 7) __syncwarp(0x0f);
  if (fault == 1) {
    if (lane < 4) {
      static_cast<void>(__ballot_sync(0xff, 1));
    } else if (lane < 8) {
      static_cast<void>(__shfl_sync(0xff, lane, 0));
    }
  }
  if (fault == 2) {
    if (lane < 16) {
      static_cast<void>(__shfl_down_sync(~0u, lane, 1));
    } else {
      __syncthreads();
    }
  }
}

// out[block] = the sum of the block's values, by shuffles in each warp.
REPRISE_KERNEL(warp_sum, (const unsigned* in, unsigned* out)) {
  __shared__ unsigned partial[32];
  unsigned sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
  for (unsigned by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
