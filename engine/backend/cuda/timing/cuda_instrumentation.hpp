// CudaInstrumentation: the resources that all timed graphs of one GPU share: timestamp kernels,
// readback and clock. Created for the first timed graph. Threads: any.
#pragma once

#include <functional>
#include <memory>

#include <reprise/kernel.hpp>

#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/timing/gpu_clock.hpp"
#include "backend/cuda/timing/readback.hpp"

namespace reprise::detail {

struct CudaInstrumentation {
  using Load = std::function<std::shared_ptr<const CudaKernel>(const KernelDesc&)>;
  CudaInstrumentation(const std::shared_ptr<const CudaContext>& context, const Load& load);

  const std::shared_ptr<const CudaKernel> begin, end, node, iteration, body_node;
  const std::shared_ptr<Readback> readback;
  const std::unique_ptr<GpuClock> clock;
};

}  // namespace reprise::detail
