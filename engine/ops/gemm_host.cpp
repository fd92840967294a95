// Matrix products on the host device with OpenBLAS: each piece computes a tile of rows of one
// matrix.
#include <cblas.h>

#include <algorithm>
#include <mutex>

#include "ops/gemm_backend.hpp"
#include "ops/half.hpp"

namespace reprise::ops {
namespace {

constexpr std::uint64_t kTileRows = 64;

bool is_half(GemmType type) { return type == GemmType::F16 || type == GemmType::BF16; }

float load(GemmType type, std::uint16_t bits) {
  return type == GemmType::F16 ? float_of_f16(bits) : float_of_bf16(bits);
}
std::uint16_t store(GemmType type, float value) {
  return type == GemmType::F16 ? f16_of_float(value) : bf16_of_float(value);
}

CBLAS_TRANSPOSE blas(Transpose transpose) {
  return transpose == Transpose::No ? CblasNoTrans : CblasTrans;
}

// With alpha 0, a and b must not matter, but OpenBLAS multiplies small matrices, also NaN.
blasint depth(const GemmDesc& d) { return d.alpha == 0 ? 0 : static_cast<blasint>(d.k); }

// A sequential OpenBLAS may manage its buffers without locks, for one caller at a time, so its
// calls are serialised.
[[nodiscard]] std::unique_lock<std::mutex> lock_if_sequential() {
  static std::mutex mutex;
  if (openblas_get_parallel() != OPENBLAS_SEQUENTIAL) return {};
  return std::unique_lock(mutex);
}

void multiply(const GemmDesc& d, std::uint64_t rows, const float* a, std::uint64_t row_a,
              const float* b, std::uint64_t row_b, float* c, std::uint64_t row_c) {
  const auto lock = lock_if_sequential();
  cblas_sgemm(CblasRowMajor, blas(d.transpose_a), blas(d.transpose_b), static_cast<blasint>(rows),
              static_cast<blasint>(d.n), depth(d), static_cast<float>(d.alpha), a,
              static_cast<blasint>(row_a), b, static_cast<blasint>(row_b),
              static_cast<float>(d.beta), c, static_cast<blasint>(row_c));
}

void multiply(const GemmDesc& d, std::uint64_t rows, const double* a, std::uint64_t row_a,
              const double* b, std::uint64_t row_b, double* c, std::uint64_t row_c) {
  const auto lock = lock_if_sequential();
  cblas_dgemm(CblasRowMajor, blas(d.transpose_a), blas(d.transpose_b), static_cast<blasint>(rows),
              static_cast<blasint>(d.n), depth(d), d.alpha, a, static_cast<blasint>(row_a), b,
              static_cast<blasint>(row_b), d.beta, c, static_cast<blasint>(row_c));
}

template <class T>
void record_plain(const GemmDesc& d, GraphRecordCtx& ctx) {
  const T* const a = static_cast<const T*>(ctx.address(d.a));
  const T* const b = static_cast<const T*>(ctx.address(d.b));
  T* const c = static_cast<T*>(ctx.address(d.c));
  const std::uint64_t tiles = (d.m + kTileRows - 1) / kTileRows;
  ctx.host(
      [=](std::uint32_t piece) {
        const std::uint64_t matrix = piece / tiles, first = piece % tiles * kTileRows;
        const std::uint64_t rows = std::min(kTileRows, d.m - first);
        multiply(
            d, rows,
            a + matrix * d.stride_a + (d.transpose_a == Transpose::No ? first * d.row_a : first),
            d.row_a, b + matrix * d.stride_b, d.row_b, c + matrix * d.stride_c + first * d.row_c,
            d.row_c);
      },
      static_cast<std::uint32_t>(tiles * d.batch));
}

struct Shape {
  std::uint64_t rows, columns;
  [[nodiscard]] std::uint64_t size() const { return rows * columns; }
};
Shape shape_a(const GemmDesc& d) {
  return d.transpose_a == Transpose::No ? Shape{d.m, d.k} : Shape{d.k, d.m};
}
Shape shape_b(const GemmDesc& d) {
  return d.transpose_b == Transpose::No ? Shape{d.k, d.n} : Shape{d.n, d.k};
}

void widen(GemmType type, const std::uint16_t* from, std::uint64_t row, const Shape& shape,
           float* to) {
  for (std::uint64_t r = 0; r < shape.rows; ++r) {
    for (std::uint64_t i = 0; i < shape.columns; ++i)
      to[r * shape.columns + i] = load(type, from[r * row + i]);
  }
}

// 16-bit elements: each piece computes one matrix through float copies.
void record_half(const GemmDesc& d, GraphRecordCtx& ctx) {
  const auto* const a = static_cast<const std::uint16_t*>(ctx.address(d.a));
  const auto* const b = static_cast<const std::uint16_t*>(ctx.address(d.b));
  auto* const c = static_cast<std::uint16_t*>(ctx.address(d.c));
  auto* const wide = static_cast<float*>(ctx.workspace());
  ctx.host(
      [=](std::uint32_t matrix) {
        const Shape of_a = shape_a(d), of_b = shape_b(d), of_c{d.m, d.n};
        float* const wide_a = wide + matrix * (of_a.size() + of_b.size() + of_c.size());
        float* const wide_b = wide_a + of_a.size();
        float* const wide_c = wide_b + of_b.size();
        std::uint16_t* const result = c + matrix * d.stride_c;
        widen(d.type, a + matrix * d.stride_a, d.row_a, of_a, wide_a);
        widen(d.type, b + matrix * d.stride_b, d.row_b, of_b, wide_b);
        if (d.beta != 0) widen(d.type, result, d.row_c, of_c, wide_c);
        multiply(d, d.m, wide_a, of_a.columns, wide_b, of_b.columns, wide_c, d.n);
        for (std::uint64_t r = 0; r < d.m; ++r) {
          for (std::uint64_t i = 0; i < d.n; ++i)
            result[r * d.row_c + i] = store(d.type, wide_c[r * d.n + i]);
        }
      },
      static_cast<std::uint32_t>(d.batch));
}

}  // namespace

std::uint64_t gemm_host_workspace(const GemmDesc& d) {
  return is_half(d.type)
             ? d.batch * (shape_a(d).size() + shape_b(d).size() + d.m * d.n) * sizeof(float)
             : 0;
}

void record_gemm_host(const GemmDesc& d, GraphRecordCtx& ctx) {
  switch (d.type) {
    case GemmType::F32: return record_plain<float>(d, ctx);
    case GemmType::F64: return record_plain<double>(d, ctx);
    case GemmType::F16:
    case GemmType::BF16: return record_half(d, ctx);
  }
}

}  // namespace reprise::ops
