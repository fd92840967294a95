// What a kernel node of somebody else's CUDA graph says of its kernel. Threads: pure functions of
// the driver's state.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/cuda/cuda_context.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

// The function of a node's parameters; null where the driver does not give one.
[[nodiscard]] CUfunction native_kernel_function(const CudaContext& context,
                                                const CUDA_KERNEL_NODE_PARAMS& node) noexcept;

// Name, parameters and limits as far as the driver tells; no backend side. `device` and
// `generation` are the caller's to set.
[[nodiscard]] KernelCore native_kernel(const CudaContext& context, CUfunction function);

// The parameter block of a node, `bytes` long; zeros where the driver does not show it.
[[nodiscard]] std::vector<std::byte> native_parameters(const CUDA_KERNEL_NODE_PARAMS& node,
                                                       const KernelCore& kernel);

}  // namespace reprise::detail
