#include <reprise/ops/gemm_op.hpp>

#include <limits>
#include <utility>

#include <gemm_small.shaders.hpp>

#include "ops/failure.hpp"
#include "ops/gemm_backend.hpp"
#include "ops/gemm_tile.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

using ops::refuse;
using ops::text;

std::string_view type_name(GemmType type) {
  switch (type) {
    case GemmType::F32: return "f32";
    case GemmType::F64: return "f64";
    case GemmType::F16: return "f16";
    case GemmType::BF16: return "bf16";
  }
  return "?";
}

struct Stored {
  std::string_view name;
  std::uint64_t rows, columns;
};

// Sets default rows and strides, and checks that the view contains `batch` such matrices.
void check(const Stored& matrix, const BufferView& view, std::uint64_t batch, std::uint64_t bytes,
           std::uint64_t& row, std::uint64_t& stride) {
  if (!view)
    refuse(ErrorCode::NotInitialized, "gemm", text("matrix ", matrix.name, " is an empty buffer"));
  if (row == 0) row = matrix.columns;
  if (row < matrix.columns) {
    refuse(ErrorCode::InvalidArgument, "gemm",
           text("rows of ", matrix.name, " have ", matrix.columns, " elements and a distance of ",
                row, "; the distance must not be smaller"));
  }
  if (stride == 0) stride = row * matrix.rows;
  const std::uint64_t needed =
      detail::bytes_of(ops::gemm_elements(matrix.rows, matrix.columns, row, batch, stride), bytes);
  if (needed > view.bytes()) {
    refuse(
        ErrorCode::OutOfRange, "gemm",
        text("matrix ", matrix.name, " of ", matrix.rows, " x ", matrix.columns, " in a batch of ",
             batch, " needs ", needed, " bytes and ", view.name(), " has ", view.bytes()));
  }
  if (view.offset() % bytes != 0)
    refuse(ErrorCode::InvalidArgument, "gemm",
           text("matrix ", matrix.name, " starts at byte ", view.offset(), " of ", view.name(),
                ", which is not a multiple of ", bytes));
}

// Up to this many multiplications, a node of our kernel takes 0.66 to 1.08 times as long as one of
// cuBLAS (H200, squares of 32 and 64; 1.23 of 128), and it can be in a segment.
constexpr std::uint64_t kSmallWork = std::uint64_t{1} << 18, kSmallBatch = 1024;

bool is_small(const GemmDesc& d) {
  const auto saturated = [](std::uint64_t x, std::uint64_t y) {
    return x > kSmallWork / y ? kSmallWork + 1 : x * y;
  };
  // The kernel indexes a matrix by 32 bits.
  const auto fits = [](std::uint64_t rows, std::uint64_t columns, std::uint64_t row) {
    return ops::elements_of(rows, row, columns) <= std::numeric_limits<std::uint32_t>::max();
  };
  const bool a = d.transpose_a == Transpose::No ? fits(d.m, d.k, d.row_a) : fits(d.k, d.m, d.row_a),
             b = d.transpose_b == Transpose::No ? fits(d.k, d.n, d.row_b) : fits(d.n, d.k, d.row_b);
  return a && b && fits(d.m, d.n, d.row_c) && d.batch <= kSmallBatch &&
         saturated(saturated(saturated(d.m, d.n), d.k), d.batch) <= kSmallWork;
}

const KernelDesc& small_kernel(GemmType type) {
  switch (type) {
    case GemmType::F32: break;
    case GemmType::F64: return shaders::reprise_gemm_f64;
    case GemmType::F16: return shaders::reprise_gemm_f16;
    case GemmType::BF16: return shaders::reprise_gemm_bf16;
  }
  return shaders::reprise_gemm_f32;
}

void declare_small(const GemmDesc& d, const AccessedView& c, GraphOpDeclaration& declaration) {
  const auto size = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  declaration.dispatch(declaration.load_kernel(small_kernel(d.type)),
                       {.grid = {ceil_div(size(d.n), reprise_ops::kGemmTileColumns),
                                 ceil_div(size(d.m), reprise_ops::kGemmTileRows), size(d.batch)},
                        .block = reprise_ops::kGemmThreads},
                       read(d.a), read(d.b), c, size(d.m), size(d.n), size(d.k), size(d.row_a),
                       size(d.row_b), size(d.row_c), d.transpose_a == Transpose::Yes,
                       d.transpose_b == Transpose::Yes, d.stride_a, d.stride_b, d.stride_c, d.alpha,
                       d.beta);
}

}  // namespace

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::ops {

std::uint64_t gemm_element_bytes(GemmType type) {
  switch (type) {
    case GemmType::F32: return 4;
    case GemmType::F64: return 8;
    case GemmType::F16:
    case GemmType::BF16: return 2;
  }
  return 0;
}

}  // namespace reprise::ops

namespace reprise::inline REPRISE_ABI {

GemmOp::GemmOp(GemmDesc desc) : desc_(std::move(desc)) {
  GemmDesc& d = desc_;
  ops::require_enumerator("gemm", ".type", d.type);
  ops::require_enumerator("gemm", ".transpose_a", d.transpose_a);
  ops::require_enumerator("gemm", ".transpose_b", d.transpose_b);
  if (d.m == 0 || d.n == 0 || d.k == 0 || d.batch == 0) {
    refuse(ErrorCode::InvalidArgument, "gemm",
           text("m ", d.m, ", n ", d.n, ", k ", d.k, ", batch ", d.batch,
                "; each must be at least 1"));
  }
  constexpr std::uint64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  if (d.m > kMaxSize || d.n > kMaxSize || d.k > kMaxSize || d.batch > kMaxSize ||
      d.row_a > kMaxSize || d.row_b > kMaxSize || d.row_c > kMaxSize) {
    refuse(ErrorCode::OutOfRange, "gemm",
           text("m ", d.m, ", n ", d.n, ", k ", d.k, ", batch ", d.batch, ", rows ", d.row_a, ", ",
                d.row_b, " and ", d.row_c, "; the limit of each is ", kMaxSize));
  }
  const std::uint64_t bytes = ops::gemm_element_bytes(d.type);
  check(d.transpose_a == Transpose::No ? Stored{"a", d.m, d.k} : Stored{"a", d.k, d.m}, d.a,
        d.batch, bytes, d.row_a, d.stride_a);
  check(d.transpose_b == Transpose::No ? Stored{"b", d.k, d.n} : Stored{"b", d.n, d.k}, d.b,
        d.batch, bytes, d.row_b, d.stride_b);
  check({"c", d.m, d.n}, d.c, d.batch, bytes, d.row_c, d.stride_c);
  if (d.batch > 1 && d.stride_c < (d.m - 1) * d.row_c + d.n) {
    refuse(ErrorCode::Overlap, "gemm",
           text("the results of a batch overlap with a stride of ", d.stride_c,
                " elements; the minimum is ", (d.m - 1) * d.row_c + d.n));
  }
}

std::string GemmOp::parameters() const {
  const GemmDesc& d = desc_;
  return text(type_name(d.type), ", m ", d.m, ", n ", d.n, ", k ", d.k,
              d.transpose_a == Transpose::Yes ? ", a transposed" : "",
              d.transpose_b == Transpose::Yes ? ", b transposed" : "", ", alpha ", d.alpha,
              ", beta ", d.beta, ", rows ", d.row_a, ' ', d.row_b, ' ', d.row_c, ", batch ",
              d.batch, ", strides ", d.stride_a, ' ', d.stride_b, ' ', d.stride_c);
}

void GemmOp::declare(GraphOpDeclaration& declaration) const {
  // Gaps between rows keep their contents. Without gaps and without beta, c is not read.
  const bool is_dense =
      desc_.row_c == desc_.n && (desc_.batch == 1 || desc_.stride_c == desc_.m * desc_.n);
  const AccessedView c = desc_.beta == 0 && is_dense ? write(desc_.c) : read_write(desc_.c);
  const bool is_host = declaration.device_kind() == DeviceKind::Host;
  if (!is_host && is_small(desc_)) return declare_small(desc_, c, declaration);
  declaration.use(read(desc_.a));
  declaration.use(read(desc_.b));
  declaration.use(c);
  const std::uint64_t bytes = is_host
                                  ? ops::gemm_host_workspace(desc_)
                                  : ops::gemm_cuda_workspace(desc_, declaration.device_ordinal());
  if (bytes != 0) static_cast<void>(declaration.workspace(bytes));
}

void GemmOp::record(GraphRecordCtx& ctx) const {
  if (ctx.device_kind() == DeviceKind::Host) return ops::record_gemm_host(desc_, ctx);
  ops::record_gemm_cuda(desc_, ctx);
}

}  // namespace reprise::inline REPRISE_ABI
