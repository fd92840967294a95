// FaultMarkers: counts the starts and ends of each command of a graph. Kernels around the command
// count in pinned memory, which the CPU can read after a device loss. Threads: any; the GPU writes
// concurrently.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"

namespace reprise::detail {

class FaultMarkers {
 public:
  FaultMarkers(const std::shared_ptr<const CudaContext>& context,
               std::shared_ptr<const CudaKernel> kernel, std::uint32_t nodes);

  // Increments the word that it receives.
  [[nodiscard]] const CudaKernel& kernel() const noexcept { return *kernel_; }
  [[nodiscard]] std::uint64_t* begun(std::uint32_t node) const noexcept {
    return memory_.words() + std::size_t{2} * node;
  }
  [[nodiscard]] std::uint64_t* ended(std::uint32_t node) const noexcept { return begun(node) + 1; }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished() const;

 private:
  const std::shared_ptr<const CudaKernel> kernel_;
  const std::uint32_t nodes_;
  const CudaMemory memory_;  // two words per node; same address on host and device
};

}  // namespace reprise::detail
