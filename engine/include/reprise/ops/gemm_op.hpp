// Matrix products as commands: cuBLAS on GPUs, OpenBLAS on the host device. Target reprise::ops.
// Threads: values.
#pragma once

#include <cstdint>
#include <string_view>

#include <reprise/graph_op.hpp>

namespace reprise {

// Of the matrices' elements. F16 (IEEE) and BF16 are multiplied and summed up as 32-bit floats.
enum class GemmType : std::uint8_t { F32, F64, F16, BF16 };
enum class Transpose : std::uint8_t { No, Yes };

// c = alpha * op(a) * op(b) + beta * c; all row by row. op(a) is m x k, op(b) is k x n, c is m x n.
struct GemmDesc {
  BufferView a = {}, b = {}, c = {};
  GemmType type = GemmType::F32;
  std::uint64_t m = 0, n = 0, k = 0;
  Transpose transpose_a = Transpose::No,
            transpose_b = Transpose::No;          // Yes: the matrix is stored transposed
  double alpha = 1, beta = 0;                     // beta 0: c is not read
  std::uint64_t row_a = 0, row_b = 0, row_c = 0;  // elements from row to row as stored; 0: tight
  std::uint64_t batch = 1;
  std::uint64_t stride_a = 0, stride_b = 0,
                stride_c = 0;  // elements from matrix to matrix; 0: tight
  // What cuBLAS may take of the graph's memory; 0: what it asks for (32 MiB on recent GPUs), which
  // products side by side each have.
  std::uint64_t workspace_bytes = 0;
};

class GemmOp : public GraphOp {
 public:
  // Throws InvalidArgument for sizes and strides that describe no product, OutOfRange where a view
  // is too small.
  explicit GemmOp(GemmDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "gemm"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  GemmDesc desc_;  // strides filled in
};

struct SgemmDesc {
  GpuRef<float> a = {}, b = {}, c = {};
  std::uint64_t m = 0, n = 0, k = 0;
  Transpose transpose_a = Transpose::No, transpose_b = Transpose::No;
  float alpha = 1, beta = 0;
  std::uint64_t workspace_bytes = 0;  // as in GemmDesc
};

// One product of tight matrices of 32-bit floats.
class SgemmOp final : public GemmOp {
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

}  // namespace reprise
