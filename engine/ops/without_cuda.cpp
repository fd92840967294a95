// Replacements for the GPU functions in a build without CUDA, where they are unreachable.
#include "ops/array_cuda.hpp"
#include "ops/copy_cuda.hpp"
#include "ops/failure.hpp"
#include "ops/fft_backend.hpp"
#include "ops/gemm_backend.hpp"

namespace reprise::ops {
namespace {

[[noreturn]] void refuse_cuda(std::string_view name) {
  refuse(ErrorCode::Unsupported, name,
         "this build has no CUDA support; build it with a CUDA toolkit");
}

}  // namespace

void copy_cuda(GraphRecordCtx&, const void*, void*, std::uint64_t) { refuse_cuda("memcpy"); }
std::uint64_t gemm_cuda_workspace(const GemmDesc&, std::uint32_t) { refuse_cuda("gemm"); }
void record_gemm_cuda(const GemmDesc&, GraphRecordCtx&) { refuse_cuda("gemm"); }
std::uint64_t fft_cuda_workspace(const FftPlanDesc&, std::uint32_t) { refuse_cuda("fft"); }
void record_fft_cuda(const FftPlanDesc&, GraphRecordCtx&, void*, void*) { refuse_cuda("fft"); }
std::uint64_t array_cuda_workspace(const ArrayWork&, std::uint32_t) { refuse_cuda("array"); }
void record_array_cuda(const ArrayWork&, const ArrayAddresses&, GraphRecordCtx&) {
  refuse_cuda("array");
}

}  // namespace reprise::ops
