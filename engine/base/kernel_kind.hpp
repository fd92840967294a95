// The kind of work that a kernel does, by its name: libraries and compilers name their kernels by
// patterns, which kernel_kind.cpp lists. The patterns are those of cuBLAS and cuBLASLt (sgemm,
// xmma_gemm, nvjet, gemv), CUTLASS, cuDNN (xmma_fprop, convolve, sdpa, bn_fw), FlashAttention and
// the memory-efficient attention of xFormers (fmha), NCCL, CUB and Thrust, PyTorch's own kernels
// (elementwise_kernel, reduce_kernel, CatArrayBatchedCopy), Inductor (triton_poi, triton_red,
// triton_per, triton_tem), XLA's fusions (loop_add_fusion, wrapped_sine), and vLLM. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

// Other: any kernel whose name matches no pattern.
enum class KernelKind : std::uint8_t {
  Other,
  Gemm,
  Convolution,
  Attention,
  Collective,
  Elementwise,
  Reduction,  // and normalisation, softmax
  SortScan,
  Copy,  // and transposition, concatenation, gather
  Fill
};

// `name`: short or whole, with or without parameters, but not mangled. Letters match in either
// case.
[[nodiscard]] KernelKind kernel_kind(std::string_view name);

// "GEMM", "convolution", "sort/scan"; "other".
[[nodiscard]] const char* kernel_kind_name(KernelKind kind) noexcept;

}  // namespace reprise::detail
