// CUDA's declaration specifiers for the C++ compiler. A block runs on one operating system thread
// from start to end, and blocks of one thread never overlap, so __shared__ variables are
// thread_local. An `extern __shared__` array is an alias of reprise_dynamic_shared_block, which the
// build adds to the file (list_kernels.cmake). REPRISE_DYNAMIC_SHARED needs no such variable.
#pragma once

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ thread_local
#define __constant__ static const
