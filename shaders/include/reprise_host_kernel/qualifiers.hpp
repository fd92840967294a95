// CUDA's declaration specifiers for the C++ compiler. A block runs on one thread of the operating
// system from begin to end, and no two blocks of a thread ever overlap: so what a block shares is
// thread_local.
#pragma once

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static thread_local
#define __constant__ static const
