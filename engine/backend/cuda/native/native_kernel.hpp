// Reads the kernel of a kernel node in an application's CUDA graph. Threads: pure functions of the
// driver's state.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/cuda/cuda_context.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

// The function in a node's parameters; null if the driver does not return one.
[[nodiscard]] CUfunction native_kernel_function(const CudaContext& context,
                                                const CUDA_KERNEL_NODE_PARAMS& node) noexcept;

// Name, parameters and limits as far as the driver reports them, without a backend object. The
// caller sets `device` and `generation`.
[[nodiscard]] KernelCore native_kernel(const CudaContext& context, CUfunction function);

// The parameter block of a node; zeros where the driver does not return it.
[[nodiscard]] std::vector<std::byte> native_parameters(const CUDA_KERNEL_NODE_PARAMS& node,
                                                       const KernelCore& kernel);

}  // namespace reprise::detail
