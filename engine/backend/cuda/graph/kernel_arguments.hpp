// KernelArguments: the CUDA node parameters of a dispatch, with reusable storage for its parameter
// block. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_kernel.hpp"

namespace reprise::detail {

class KernelArguments {
 public:
  KernelArguments() = default;
  explicit KernelArguments(const Recording& recording) { reserve(recording); }

  // Reserves storage for every kernel of the recording and of its bodies.
  void reserve(const Recording& recording) {
    std::size_t bytes = block_.size(), count = parameters_.size();
    for (const auto& kernel : recording.kernels) {
      bytes = std::max<std::size_t>(bytes, kernel->parameter_bytes);
      count = std::max(count, kernel->parameters.size());
    }
    block_.resize(bytes);
    parameters_.resize(count);
    for (const auto& body : recording.bodies) reserve(*body);
  }

  // Valid until the next call. Enables the kernel's dynamic shared memory.
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS of(const Plan& plan, const Bindings& bindings,
                                           std::uint32_t command) {
    const auto& dispatch = plan.recording->payload<DispatchPayload>(command);
    const KernelCore& core = *plan.recording->kernels[dispatch.kernel];
    const auto& kernel = static_cast<const CudaKernel&>(*core.backend);
    if (dispatch.shared_bytes != 0) kernel.allow_shared_bytes(dispatch.shared_bytes);
    fill_parameter_block(plan, bindings, command, block_.data());
    for (std::size_t i = 0; i < core.parameters.size(); ++i)
      parameters_[i] = block_.data() + core.parameters[i].offset;
    CUDA_KERNEL_NODE_PARAMS made = {};
    made.func = kernel.function();
    made.gridDimX = dispatch.grid.x;
    made.gridDimY = dispatch.grid.y;
    made.gridDimZ = dispatch.grid.z;
    made.blockDimX = dispatch.block.x;
    made.blockDimY = dispatch.block.y;
    made.blockDimZ = dispatch.block.z;
    made.sharedMemBytes = dispatch.shared_bytes;
    made.kernelParams = parameters_.data();
    return made;
  }

 private:
  std::vector<std::byte> block_;
  std::vector<void*> parameters_;  // address of each parameter in block_
};

}  // namespace reprise::detail
