#include <reprise/ops/gemm_op.hpp>

#include <limits>
#include <utility>

#include "ops/failure.hpp"
#include "ops/gemm_backend.hpp"

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
  declaration.use(read(desc_.a));
  declaration.use(read(desc_.b));
  // Gaps between rows keep their contents. Without gaps and without beta, c is not read.
  const bool is_dense =
      desc_.row_c == desc_.n && (desc_.batch == 1 || desc_.stride_c == desc_.m * desc_.n);
  declaration.use(desc_.beta == 0 && is_dense ? write(desc_.c) : read_write(desc_.c));
  const std::uint64_t bytes = declaration.device_kind() == DeviceKind::Host
                                  ? ops::gemm_host_workspace(desc_)
                                  : ops::gemm_cuda_workspace(desc_, declaration.device_ordinal());
  if (bytes != 0) static_cast<void>(declaration.workspace(bytes));
}

void GemmOp::record(GraphRecordCtx& ctx) const {
  if (ctx.device_kind() == DeviceKind::Host) return ops::record_gemm_host(desc_, ctx);
  ops::record_gemm_cuda(desc_, ctx);
}

}  // namespace reprise::inline REPRISE_ABI
