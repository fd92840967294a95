// The two ways a product is made. Each throws Error naming the op. Threads: as GraphOp::record() says.
#pragma once

#include <cstdint>

#include <reprise/ops/gemm_op.hpp>

namespace reprise::ops {

// Bytes of workspace; 0: none.
[[nodiscard]] std::uint64_t gemm_host_workspace(const GemmDesc& desc);
void record_gemm_host(const GemmDesc& desc, GraphRecordCtx& ctx);

[[nodiscard]] std::uint64_t gemm_cuda_workspace(const GemmDesc& desc, std::uint32_t ordinal);
void record_gemm_cuda(const GemmDesc& desc, GraphRecordCtx& ctx);

}  // namespace reprise::ops
