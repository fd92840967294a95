// The two implementations of a matrix product. Functions throw Error naming the op. Threads: as
// GraphOp::record().
#pragma once

#include <cstdint>

#include <reprise/ops/gemm_op.hpp>

#include "ops/failure.hpp"

namespace reprise::ops {

// The number of elements from a batch's first to its last. `stride`: distance of matrices; `row`:
// distance of rows.
// Saturated at 2^64 - 1.
[[nodiscard]] constexpr std::uint64_t gemm_elements(std::uint64_t rows, std::uint64_t columns,
                                                    std::uint64_t row, std::uint64_t batch,
                                                    std::uint64_t stride) {
  return elements_of(batch, stride, elements_of(rows, row, columns));
}
[[nodiscard]] std::uint64_t gemm_element_bytes(GemmType type);

// Bytes of workspace; 0: none.
[[nodiscard]] std::uint64_t gemm_host_workspace(const GemmDesc& desc);
void record_gemm_host(const GemmDesc& desc, GraphRecordCtx& ctx);

[[nodiscard]] std::uint64_t gemm_cuda_workspace(const GemmDesc& desc, std::uint32_t ordinal);
void record_gemm_cuda(const GemmDesc& desc, GraphRecordCtx& ctx);

}  // namespace reprise::ops
