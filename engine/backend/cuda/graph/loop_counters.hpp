// LoopCounters: the iterations of one graph's loops, counted by one-thread kernels in device
// memory. All executables of a graph share them: their launches are serialised. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <reprise/kernel.hpp>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"

namespace reprise::detail {

class LoopCounters {
 public:
  using Load = std::function<std::shared_ptr<const CudaKernel>(const KernelDesc&)>;

  // `stop`: a word in pinned host memory that ends all loops when it is set; null: none.
  LoopCounters(std::shared_ptr<const CudaContext> context, const Load& load, std::uint32_t loops,
               const std::uint32_t* stop);
  LoopCounters(const LoopCounters&) = delete;
  LoopCounters& operator=(const LoopCounters&) = delete;
  ~LoopCounters();

  [[nodiscard]] const CudaKernel& enter() const noexcept { return *enter_; }
  [[nodiscard]] const CudaKernel& iterate() const noexcept { return *iterate_; }
  [[nodiscard]] const CudaKernel& leave() const noexcept { return *leave_; }
  [[nodiscard]] const std::uint32_t* stop() const noexcept { return stop_; }
  [[nodiscard]] std::uint64_t* words_of(std::uint32_t loop) const noexcept {
    return memory_.words() + std::size_t{kWords} * loop;
  }
  // The current counts. Waits only for its own copy. Throws DeviceLost.
  [[nodiscard]] std::vector<LoopCount> read() const;

 private:
  static constexpr std::uint32_t kWords = 4;  // per loop; see loops.cu

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const CudaKernel> enter_, iterate_, leave_;
  const std::uint32_t loops_;
  const std::uint32_t* const stop_;
  const CudaMemory memory_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace reprise::detail
