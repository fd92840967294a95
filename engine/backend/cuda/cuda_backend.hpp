// CudaBackend: one opened GPU: memory, queues, kernels, executable graphs. Threads: any.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/graph/fault_markers.hpp"
#include "backend/cuda/graph/loop_counters.hpp"
#include "backend/cuda/segments/cuda_segments.hpp"
#include "backend/cuda/timing/cuda_instrumentation.hpp"

namespace reprise::detail {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(std::shared_ptr<const CudaContext> context) : context_(std::move(context)) {}

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return context_->info; }
  [[nodiscard]] std::byte* allocate(BufferKind kind, std::uint64_t bytes) override;
  void free(BufferKind kind, std::byte* address) noexcept override;
  [[nodiscard]] std::unique_ptr<VirtualAllocation> allocate_pages(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<VirtualAllocation> reserve_pages(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<BackendQueue> create_queue(const QueueDesc& desc) override;
  [[nodiscard]] KernelCore load_kernel(const KernelDesc& desc) override;
  [[nodiscard]] ConstantMemory find_constant(const ConstantDesc& desc) override;
  [[nodiscard]] std::unique_ptr<BackendExec> instantiate(std::shared_ptr<const Plan> plan,
                                                         const Bindings& bindings,
                                                         Instrumentation instrumentation) override;
  void simulate_loss() override;
  void rebuild() override;

  [[nodiscard]] const std::shared_ptr<const CudaContext>& context() const noexcept {
    return context_;
  }
  // Created by the first call.
  [[nodiscard]] std::shared_ptr<const CudaInstrumentation> instrumentation();
  // Null for a recording without loops.
  [[nodiscard]] std::unique_ptr<const LoopCounters> loop_counters(const Plan& plan);

 private:
  // Loads each image once and keeps it: unloading waits for all work of the GPU and blocks every
  // launch of the process meanwhile.
  [[nodiscard]] std::shared_ptr<CudaLibrary> library(std::span<const std::byte> image,
                                                     std::string_view name);
  [[nodiscard]] std::shared_ptr<const CudaKernel> cuda_kernel(const KernelDesc& desc);
  // Returns `slot`, which the first call fills with make(). Any thread: mutex_ is not held during
  // make(), so concurrent first calls may each make one, of which the first is kept.
  template <class T, class Make>
  [[nodiscard]] std::shared_ptr<T> once(std::shared_ptr<T>& slot, const Make& make);
  [[nodiscard]] std::shared_ptr<const CudaKernel> entry_exit();
  [[nodiscard]] std::shared_ptr<const CudaKernel> copy();
  [[nodiscard]] std::shared_ptr<SegmentKernels> segment_kernels();
  [[nodiscard]] std::unique_ptr<const FaultMarkers> fault_markers(const LoweredGraph& lowered);

  const std::shared_ptr<const CudaContext> context_;
  std::mutex mutex_;
  // By address of the image. Images are never freed.
  std::map<const std::byte*, std::shared_ptr<CudaLibrary>> libraries_;
  std::shared_ptr<SegmentKernels> segment_kernels_;
  std::shared_ptr<const CudaKernel> entry_exit_, copy_;
  std::shared_ptr<const CudaInstrumentation> instrumentation_;
};

}  // namespace reprise::detail
