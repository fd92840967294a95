// Small matrix products: c = alpha * op(a) * op(b) + beta * c for row-major matrices, one block for
// a tile of c. The block copies its part of a and b to shared memory, in chunks of k. Each group of
// threads multiplies a quarter of a chunk, and the groups' sums are added in a fixed order. F16 and
// BF16 are multiplied and added as 32-bit floats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <reprise_kernel.hpp>

#include "ops/gemm_tile.hpp"

static constexpr unsigned kRows = reprise_ops::kGemmTileRows,
                          kColumns = reprise_ops::kGemmTileColumns,
                          kThreads = reprise_ops::kGemmThreads, kGroups = 4,
                          kPerThread = kRows * kColumns / kThreads;
// Each thread of a group multiplies 4 x 4 elements.
static_assert(kThreads == kGroups * (kRows / 4) * (kColumns / 4));

// The type of sums, and how many elements of k a chunk has.
template <class T>
struct Of {
  using Sum = float;
  static constexpr unsigned kChunk = 68;
};
template <>
struct Of<double> {
  using Sum = double;
  static constexpr unsigned kChunk = 36;
};

template <class T>
struct alignas(16) Four {
  T v[4];
};

// By element of k. Distances of an odd number of fours spread columns over the banks.
template <class T>
struct Operands {
  Four<typename Of<T>::Sum> a[Of<T>::kChunk][kRows / 4 + 1], b[Of<T>::kChunk][kColumns / 4 + 1];
};

template <class T>
union Shared {
  Operands<T> operands;
  Four<typename Of<T>::Sum> sums[kGroups][kRows][kColumns / 4];
};

// A thread's share of a chunk of op(x) with kSide rows or columns, loaded at once and then stored.
// `across`: neighbours in memory have the same k.
template <unsigned kSide, class T>
class Share {
  using Sum = typename Of<T>::Sum;

 public:
  // The elements from `first` to first + count of k; 0 outside.
  __device__ void load(const T* x, unsigned row, bool across, unsigned sides, unsigned first,
                       unsigned count) {
    for (unsigned i = 0; i < kCount; ++i) {
      const Place at = place(i, across);
      const bool exists = at.k < count && at.side < sides;
      const unsigned from = across ? (first + at.k) * row + at.side : at.side * row + first + at.k;
      values_[i] = exists ? static_cast<Sum>(x[from]) : Sum(0);
    }
  }
  template <unsigned kFours>
  __device__ void store(Four<Sum> (*to)[kFours], bool across) const {
    for (unsigned i = 0; i < kCount; ++i) {
      const Place at = place(i, across);
      if (at.k < Of<T>::kChunk) to[at.k][at.side / 4].v[at.side % 4] = values_[i];
    }
  }

 private:
  struct Place {
    unsigned k, side;
  };
  static constexpr unsigned kCount = (kSide * Of<T>::kChunk + kThreads - 1) / kThreads;
  // Threads read four neighbours of a row where k is contiguous.
  static __device__ Place place(unsigned i, bool across) {
    const unsigned at = i * kThreads + threadIdx.x;
    return across ? Place{at / kSide, at % kSide}
                  : Place{at / (4 * kSide) * 4 + at % 4, at / 4 % kSide};
  }
  Sum values_[kCount];
};

template <class T>
static __device__ void multiply(const T* a, const T* b, T* c, unsigned m, unsigned n, unsigned k,
                                unsigned row_a, unsigned row_b, unsigned row_c, bool transposed_a,
                                bool transposed_b, unsigned long long stride_a,
                                unsigned long long stride_b, unsigned long long stride_c,
                                double alpha, double beta) {
  using Sum = typename Of<T>::Sum;
  __shared__ Shared<T> shared;
  const unsigned top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  a += blockIdx.z * stride_a + (transposed_a ? top : top * row_a);
  b += blockIdx.z * stride_b + (transposed_b ? left * row_b : left);
  c += blockIdx.z * stride_c + top * row_c + left;
  const unsigned group = threadIdx.x / (kThreads / kGroups),
                 of_group = threadIdx.x % (kThreads / kGroups), four = of_group / (kColumns / 4),
                 column = of_group % (kColumns / 4);
  Sum sums[4][4] = {};
  for (unsigned first = 0; first < k; first += Of<T>::kChunk) {
    const unsigned count = k - first < Of<T>::kChunk ? k - first : Of<T>::kChunk;
    Share<kRows, T> of_a;
    Share<kColumns, T> of_b;
    of_a.load(a, row_a, transposed_a, m - top, first, count);
    of_b.load(b, row_b, !transposed_b, n - left, first, count);
    if (first != 0) __syncthreads();
    of_a.store(shared.operands.a, transposed_a);
    of_b.store(shared.operands.b, !transposed_b);
    __syncthreads();
    for (unsigned i = group; i < count; i += kGroups) {
      const Four<Sum> x = shared.operands.a[i][four], y = shared.operands.b[i][column];
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned s = 0; s < 4; ++s) sums[r][s] = fma(x.v[r], y.v[s], sums[r][s]);
    }
  }
  __syncthreads();
  for (unsigned r = 0; r < 4; ++r)
    shared.sums[group][4 * four + r][column] = {{sums[r][0], sums[r][1], sums[r][2], sums[r][3]}};
  __syncthreads();
  for (unsigned i = 0; i < kPerThread; ++i) {
    const unsigned at = i * kThreads + threadIdx.x, r = at / kColumns, s = at % kColumns;
    if (top + r >= m || left + s >= n) continue;
    Sum sum = shared.sums[0][r][s / 4].v[s % 4];
    for (unsigned g = 1; g < kGroups; ++g) sum += shared.sums[g][r][s / 4].v[s % 4];
    T* const to = c + r * row_c + s;
    sum = alpha != 0 ? sum * static_cast<Sum>(alpha) : Sum(0);  // as in BLAS, also for NaN
    if (beta != 0) sum += static_cast<Sum>(beta) * static_cast<Sum>(*to);
    *to = static_cast<T>(sum);
  }
}

REPRISE_KERNEL_INSTANCE(reprise_gemm_f32, multiply<float>)
REPRISE_KERNEL_INSTANCE(reprise_gemm_f64, multiply<double>)
REPRISE_KERNEL_INSTANCE(reprise_gemm_f16, multiply<__half>)
REPRISE_KERNEL_INSTANCE(reprise_gemm_bf16, multiply<__nv_bfloat16>)
