// FaultMarkers: how often each command of a graph began and ended, counted by kernels around it in
// pinned memory, where the CPU finds it when the device is lost. Threads: any; the GPU writes
// meanwhile.
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
  FaultMarkers(std::shared_ptr<const CudaContext> context, std::shared_ptr<const CudaKernel> kernel,
               std::uint32_t nodes);
  FaultMarkers(const FaultMarkers&) = delete;
  FaultMarkers& operator=(const FaultMarkers&) = delete;
  ~FaultMarkers();

  // Counts up the word that it is given.
  [[nodiscard]] const CudaKernel& kernel() const noexcept { return *kernel_; }
  [[nodiscard]] std::uint64_t* begun(std::uint32_t node) const noexcept {
    return words_ + std::size_t{2} * node;
  }
  [[nodiscard]] std::uint64_t* ended(std::uint32_t node) const noexcept { return begun(node) + 1; }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished() const;

 private:
  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const CudaKernel> kernel_;
  const std::uint32_t nodes_;
  std::uint64_t* words_ = nullptr;  // two a node, at the same address for both sides
};

}  // namespace reprise::detail
