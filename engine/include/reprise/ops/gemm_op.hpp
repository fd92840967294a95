// Matrix products as ops: OpenBLAS on the host device, cuBLAS on GPUs. There, a batch of at most
// 2^18 multiplications is one kernel of this library, which segments may contain. Constructors throw
// NotInitialized for an empty buffer, InvalidArgument for invalid sizes and strides, OutOfRange for
// a buffer that is too small. Target reprise::ops. Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/graph_op.hpp>

namespace reprise::inline REPRISE_ABI {

// Type of matrix elements. F16 (IEEE) and BF16 are multiplied and accumulated as 32-bit floats.
enum class GemmType : std::uint8_t { F32, F64, F16, BF16 };
enum class Transpose : std::uint8_t { No, Yes };
[[nodiscard]] REPRISE_API std::string_view to_string(GemmType type) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(Transpose transpose) noexcept;

// c = alpha * op(a) * op(b) + beta * c for row-major matrices. op(a) is m x k, op(b) is k x n, c is
// m x n, where op(x) is x or its transpose.
struct GemmDesc {
  BufferView a = {}, b = {}, c = {};
  GemmType type = GemmType::F32;
  std::uint64_t m = 0, n = 0, k = 0;
  Transpose transpose_a = Transpose::No,
            transpose_b = Transpose::No;          // Yes: stored transposed
  double alpha = 1, beta = 0;  // 0: what a and b, or c, contain does not matter, not even NaN
  std::uint64_t row_a = 0, row_b = 0, row_c = 0;  // elements from stored row to row; 0: contiguous
  std::uint64_t batch = 1;
  std::uint64_t stride_a = 0, stride_b = 0,
                stride_c = 0;  // elements from matrix to matrix; 0: contiguous
  // Workspace for cuBLAS in the graph's slab; concurrent products each have their own. Default: the
  // size that cuBLAS recommends (32 MiB on recent GPUs). Ignored where cuBLAS is not called.
  std::optional<std::uint64_t> workspace_bytes = {};
};

class REPRISE_API GemmOp : public GraphOp {
 public:
  explicit GemmOp(GemmDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "gemm"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  GemmDesc desc_;  // with strides instead of 0
};

struct SgemmDesc {
  GpuRef<float> a = {}, b = {}, c = {};
  std::uint64_t m = 0, n = 0, k = 0;
  Transpose transpose_a = Transpose::No, transpose_b = Transpose::No;
  float alpha = 1, beta = 0;
  std::optional<std::uint64_t> workspace_bytes = {};  // as GemmDesc
};

// One product of contiguous matrices of 32-bit floats.
class REPRISE_API SgemmOp final : public GemmOp {
 public:
  explicit SgemmOp(const SgemmDesc& desc)
      : GemmOp({.a = desc.a,
                .b = desc.b,
                .c = desc.c,
                .m = desc.m,
                .n = desc.n,
                .k = desc.k,
                .transpose_a = desc.transpose_a,
                .transpose_b = desc.transpose_b,
                .alpha = desc.alpha,
                .beta = desc.beta,
                .workspace_bytes = desc.workspace_bytes}) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return "sgemm"; }
};

}  // namespace reprise::inline REPRISE_ABI
