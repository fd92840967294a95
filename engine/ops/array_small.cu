// Reductions and scans of few values by one block. Sums have a fixed order.
#include <reprise_kernel.hpp>

#include "ops/array_work.hpp"

using reprise::ops::ArrayVerb;

static constexpr unsigned kThreads = reprise::ops::kSmallArrayThreads;

template <class T>
static __device__ T sum_of(T a, T b) {
  return a + b;
}
// Sums of integers wrap around.
static __device__ int sum_of(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

template <class T>
static __device__ T combined(ArrayVerb verb, T a, T b) {
  switch (verb) {
    case ArrayVerb::Min: return b < a ? b : a;
    case ArrayVerb::Max: return a < b ? b : a;
    default: return sum_of(a, b);
  }
}

template <class T>
static __device__ void reduce(const T* input, T* output, unsigned n, ArrayVerb verb) {
  __shared__ T values[kThreads];
  const unsigned threads = n < kThreads ? n : kThreads;
  if (threadIdx.x < threads) {
    T value = input[threadIdx.x];
    for (unsigned i = threadIdx.x + kThreads; i < n; i += kThreads)
      value = combined(verb, value, input[i]);
    values[threadIdx.x] = value;
  }
  for (unsigned half = kThreads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && threadIdx.x + half < threads)
      values[threadIdx.x] = combined(verb, values[threadIdx.x], values[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) output[0] = values[0];
}

// Each thread adds the values of one part, then the sums of the parts before it.
template <class T>
static __device__ void scan(const T* input, T* output, unsigned n, ArrayVerb verb) {
  __shared__ T sums[2][kThreads];
  const unsigned part = (n + kThreads - 1) / kThreads, first = threadIdx.x * part,
                 end = first + part < n ? first + part : n;
  T sum = T(0);
  for (unsigned i = first; i < end; ++i) sum = sum_of(sum, input[i]);
  sums[0][threadIdx.x] = sum;
  unsigned from = 0;
  for (unsigned distance = 1; distance < kThreads; distance *= 2, from = 1 - from) {
    __syncthreads();
    const T own = sums[from][threadIdx.x];
    sums[1 - from][threadIdx.x] =
        threadIdx.x < distance ? own : sum_of(sums[from][threadIdx.x - distance], own);
  }
  __syncthreads();
  T before = threadIdx.x == 0 ? T(0) : sums[from][threadIdx.x - 1];
  for (unsigned i = first; i < end; ++i) {
    const T value = sum_of(before, input[i]);
    output[i] = verb == ArrayVerb::InclusiveScan ? value : before;
    before = value;
  }
}

#define REPRISE_SMALL_ARRAYS(name, T)                       \
  REPRISE_KERNEL_INSTANCE(reprise_reduce_##name, reduce<T>) \
  REPRISE_KERNEL_INSTANCE(reprise_scan_##name, scan<T>)
REPRISE_SMALL_ARRAYS(f32, float)
REPRISE_SMALL_ARRAYS(f64, double)
REPRISE_SMALL_ARRAYS(i32, int)
REPRISE_SMALL_ARRAYS(u32, unsigned)
