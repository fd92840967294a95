// The steps of a tiled Cholesky factorisation A = L L^T. A tile has N x N values in column-major
// order; a block of 4 N threads computes it.
#include <reprise_kernel.hpp>

// Loops over registers are unrolled. UNROLL_BY: only in part, because segments of a graph leave out
// kernels of more than 128 registers.
#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(count) UNROLL_PRAGMA(unroll count)
#define UNROLL_PRAGMA(text) _Pragma(#text)
#else
#define UNROLL
#define UNROLL_BY(count)
#endif

// Kernels are built without contraction.
static __device__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
static __device__ double multiply_add(double a, double b, double c) { return fma(a, b, c); }
static __device__ float inverse_root(float x) { return rsqrtf(x); }
static __device__ double inverse_root(double x) { return rsqrt(x); }

// Values that one instruction loads or stores, up to 16 bytes.
template <class T, unsigned Count>
struct alignas(Count * sizeof(T)) Pack {
  T values[Count];
};
template <class T, unsigned Count>
static constexpr unsigned kPacked = Count < 16 / sizeof(T) ? Count : 16 / sizeof(T);

// `Count` values from or to memory that is aligned to a pack: packs at a distance of `Stride`.
template <unsigned Stride, class T, unsigned Count>
static __device__ void load(const T* from, T (&to)[Count]) {
  constexpr unsigned kSize = kPacked<T, Count>;
  UNROLL
  for (unsigned i = 0; i < Count / kSize; ++i) {
    const auto pack = *reinterpret_cast<const Pack<T, kSize>*>(from + i * Stride);
    UNROLL
    for (unsigned j = 0; j < kSize; ++j) to[i * kSize + j] = pack.values[j];
  }
}
template <unsigned Stride, class T, unsigned Count>
static __device__ void store(const T (&from)[Count], T* to) {
  constexpr unsigned kSize = kPacked<T, Count>;
  UNROLL
  for (unsigned i = 0; i < Count / kSize; ++i) {
    Pack<T, kSize> pack;
    UNROLL
    for (unsigned j = 0; j < kSize; ++j) pack.values[j] = from[i * kSize + j];
    *reinterpret_cast<Pack<T, kSize>*>(to + i * Stride) = pack;
  }
}
template <class T, unsigned Count>
static __device__ void load(const T* from, T (&to)[Count]) {
  load<kPacked<T, Count>>(from, to);
}
template <class T, unsigned Count>
static __device__ void store(const T (&from)[Count], T* to) {
  store<kPacked<T, Count>>(from, to);
}

// sums[j][i] -= x[i] * y[j]
template <class T, unsigned Columns, unsigned Rows>
static __device__ void subtract_product(const T (&x)[Rows], const T (&y)[Columns],
                                        T (&sums)[Columns][Rows]) {
  UNROLL
  for (unsigned j = 0; j < Columns; ++j) {
    UNROLL
    for (unsigned i = 0; i < Rows; ++i) sums[j][i] = multiply_add(-y[j], x[i], sums[j][i]);
  }
}

// Factors tile = L L^T and writes L and its inverse. What is above the diagonal of the tile then
// has no meaning; that of `inverse` must be zero before. `status` becomes the first row whose pivot
// is not positive, if it is less.
//
// The operations on columns that turn A into L turn the identity I into the transposed inverse, so
// the rows of I follow those of A. A panel is 4 columns wide. N + 4 rows from the panel's first on
// are not zero in it. Each of the first N + 4 threads computes one of them and, as all need it, the
// triangle on the diagonal. At the same time the last 2 N threads subtract the previous panel from
// the columns behind this one, of which each thread has two blocks of 4 x 4 values.
template <class T, unsigned N>
static __device__ void factor_tile(T* tile, T* inverse, unsigned* status, unsigned first_row) {
  constexpr unsigned kSide = 4, kRows = N + kSide, kBlocks = N / kSide;
  alignas(16) __shared__ T next[2][kSide][N];  // a panel without the subtraction of the last one
  alignas(16) __shared__ T done[2][kSide][kRows];  // the last panels of L
  const unsigned number = threadIdx.x - 2 * N, pair = number / kBlocks;
  const bool has_row = threadIdx.x < kRows, has_blocks = threadIdx.x >= 2 * N && pair < kBlocks / 2;
  // Where the blocks begin. The last pair has only one.
  const unsigned other = kBlocks - 1 - pair;
  const unsigned columns[2] = {kSide * (pair + 1), other == pair + 1 ? 0 : kSide * other};
  const unsigned rows[2] = {columns[0] + kSide * (number % kBlocks),
                            columns[1] + kSide * (number % kBlocks)};
  T blocks[2][kSide][kSide];
  UNROLL
  for (unsigned b = 0; b < 2; ++b) {
    UNROLL
    for (unsigned j = 0; j < kSide; ++j) {
      UNROLL
      for (unsigned i = 0; i < kSide; ++i) blocks[b][j][i] = 0;
      if (has_blocks && rows[b] < N) load(tile + (columns[b] + j) * N + rows[b], blocks[b][j]);
    }
  }
  next[0][threadIdx.x / N][threadIdx.x % N] = tile[threadIdx.x];
  __syncthreads();
  for (unsigned first = 0; first < N; first += kSide) {
    const unsigned turn = first / kSide % 2;
    const auto& last = done[1 - turn];
    if (has_row) {
      const bool is_identity = threadIdx.x >= N;
      T d[kSide][kSide], row[kSide];
      UNROLL
      for (unsigned j = 0; j < kSide; ++j) {
        load(next[turn][j], d[j]);
        row[j] = is_identity ? T(threadIdx.x - N == j) : next[turn][j][threadIdx.x];
      }
      if (first > 0) {
        UNROLL_BY(16 / sizeof(T))
        for (unsigned k = 0; k < kSide; ++k) {
          T y[kSide];
          load(&last[k][kSide], y);
          const T x = is_identity ? T(0) : last[k][threadIdx.x + kSide];
          UNROLL
          for (unsigned j = 0; j < kSide; ++j) {
            row[j] = multiply_add(-y[j], x, row[j]);
            UNROLL
            for (unsigned i = j; i < kSide; ++i) d[j][i] = multiply_add(-y[j], y[i], d[j][i]);
          }
        }
      }
      UNROLL
      for (unsigned k = 0; k < kSide; ++k) {
        const T scale = inverse_root(d[k][k]);
        row[k] *= scale;
        done[turn][k][threadIdx.x] = row[k];
        UNROLL
        for (unsigned i = k + 1; i < kSide; ++i) d[k][i] *= scale;
        UNROLL
        for (unsigned j = k + 1; j < kSide; ++j) {
          row[j] = multiply_add(-d[k][j], row[k], row[j]);
          UNROLL
          for (unsigned i = j; i < kSide; ++i) d[j][i] = multiply_add(-d[k][j], d[k][i], d[j][i]);
        }
      }
      const unsigned at = first + threadIdx.x;
      if (at < N) {
        bool is_positive = true;
        UNROLL
        for (unsigned k = 0; k < kSide; ++k) {
          tile[(first + k) * N + at] = row[k];
          is_positive &= threadIdx.x != k || row[k] > 0;
        }
        if (!is_positive) atomicMin(status, first_row + at);
      } else {
        store(row, inverse + ((at - N) * N + first));
      }
    } else if (has_blocks) {
      UNROLL
      for (unsigned b = 0; b < 2; ++b) {
        if (columns[b] <= first) continue;
        // Before this panel, the rows of I from `first` on are zero.
        if (first > 0 && rows[b] < N + first) {
          UNROLL_BY(16 / sizeof(T))
          for (unsigned k = 0; k < kSide; ++k) {
            T x[kSide], y[kSide];
            load(&last[k][rows[b] - first + kSide], x);
            load(&last[k][columns[b] - first + kSide], y);
            subtract_product(x, y, blocks[b]);
          }
        }
        if (columns[b] != first + kSide) continue;
        UNROLL
        for (unsigned j = 0; j < kSide; ++j)
          store(blocks[b][j], &next[1 - turn][j][rows[b] - columns[b]]);
      }
    }
    __syncthreads();
  }
}

enum class Product { Update, Solve };

// Update: tile -= left right^T. Solve: tile = left right^T, where `left` may be the tile, and
// `right` is lower triangular. The columns of both factors pass through shared memory in slices;
// each thread keeps some columns of 4 rows.
template <class T, unsigned N, Product Kind>
static __device__ void multiply(const T* left, const T* right, T* tile) {
  constexpr unsigned kThreads = 4 * N, kRows = 4, kColumns = N / 16, kPack = 16 / sizeof(T),
                     kSlice = N < 256 / sizeof(T) ? N : 256 / sizeof(T),
                     kPacks = kSlice * N / kPack / kThreads, kStride = N / 4 * kPack;
  alignas(16) __shared__ T a[kSlice][N], b[kSlice][N];
  using Part = Pack<T, kPack>;
  // Each warp computes 8 x 4 times as many values as a thread.
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, across = N / 32;
  const unsigned row = (warp % across * 8 + lane % 8) * kPack,
                 first_of_warp = warp / across * 4 * kColumns,
                 column = first_of_warp + lane / 8 * kColumns;
  Part next_a[kPacks], next_b[kPacks];
  const auto fetch = [&](unsigned first) {
    UNROLL
    for (unsigned i = 0; i < kPacks; ++i) {
      const unsigned at = threadIdx.x + i * kThreads;
      next_a[i] = reinterpret_cast<const Part*>(left + first * N)[at];
      next_b[i] = reinterpret_cast<const Part*>(right + first * N)[at];
    }
  };
  fetch(0);
  T sums[kColumns][kRows];
  UNROLL
  for (unsigned j = 0; j < kColumns; ++j) {
    UNROLL
    for (unsigned i = 0; i < kRows; ++i) sums[j][i] = 0;
    if (Kind == Product::Update) load<kStride>(tile + (column + j) * N + row, sums[j]);
  }
  for (unsigned first = 0; first < N; first += kSlice) {
    UNROLL
    for (unsigned i = 0; i < kPacks; ++i) {
      const unsigned at = threadIdx.x + i * kThreads;
      reinterpret_cast<Part*>(a)[at] = next_a[i];
      reinterpret_cast<Part*>(b)[at] = next_b[i];
    }
    __syncthreads();
    if (first + kSlice < N) fetch(first + kSlice);
    unsigned count = kSlice;
    if (Kind == Product::Solve) {  // no more than the columns of `right` that are not zero
      const unsigned end = first_of_warp + 4 * kColumns;
      count = end <= first ? 0 : end - first < kSlice ? end - first : kSlice;
    }
    UNROLL_BY(sizeof(T) == sizeof(float) ? 8 : 2)
    for (unsigned k = 0; k < count; ++k) {
      T x[kRows], y[kColumns];
      load<kStride>(&a[k][row], x);
      load(&b[k][column], y);
      if (Kind == Product::Solve) {
        UNROLL
        for (unsigned j = 0; j < kColumns; ++j) y[j] = -y[j];
      }
      subtract_product(x, y, sums);
    }
    if (first + kSlice < N) __syncthreads();
  }
  UNROLL
  for (unsigned j = 0; j < kColumns; ++j) store<kStride>(sums[j], tile + (column + j) * N + row);
}

#define CHOLESKY_KERNELS(type, size)                                                    \
  REPRISE_KERNEL(cholesky_factor_##type##_##size,                                       \
                 (type * tile, type * inverse, unsigned* status, unsigned first_row)) { \
    factor_tile<type, size>(tile, inverse, status, first_row);                          \
  }                                                                                     \
  REPRISE_KERNEL(cholesky_solve_##type##_##size, (const type* inverse, type* tile)) {   \
    multiply<type, size, Product::Solve>(tile, inverse, tile);                          \
  }                                                                                     \
  REPRISE_KERNEL(cholesky_update_##type##_##size,                                       \
                 (const type* left, const type* right, type* tile)) {                   \
    multiply<type, size, Product::Update>(left, right, tile);                           \
  }

CHOLESKY_KERNELS(float, 32)
CHOLESKY_KERNELS(float, 64)
CHOLESKY_KERNELS(double, 32)
CHOLESKY_KERNELS(double, 64)
