// GpuClock: converts a GPU's nanosecond clock (%globaltimer) to the host's steady clock. It
// requests many clock pairs and keeps the one with the smallest error; two such pairs yield the
// drift. No other code converts GPU time to host time. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/timing/readback.hpp"

namespace reprise::detail {

class GpuClock {
 public:
  // `echo` is reprise_clock_echo.
  GpuClock(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Readback> readback,
           std::shared_ptr<const CudaKernel> echo);

  // Measures a new pair if the last one is older than a second and no other thread is measuring.
  // The answer comes from a one-thread kernel, so it needs free space on the GPU. On a timeout the
  // last pair stays valid. Throws DeviceLost and other CUDA errors.
  void align();
  // Empty before the first pair.
  [[nodiscard]] std::optional<ClockPair> pair() const;
  // Maps 0 to 0, and everything to 0 before the first pair.
  [[nodiscard]] std::int64_t to_host(std::uint64_t device_time) const;

 private:
  [[nodiscard]] std::optional<ClockPair> measure();

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const Readback> readback_;
  const std::shared_ptr<const CudaKernel> echo_;
  const CudaMemory mailbox_;  // pinned; shared with the GPU
  std::mutex measuring_;      // held while measuring
  mutable std::mutex mutex_;  // guards the members below
  std::optional<ClockPair> last_;
  double rate_ = 1;  // host nanoseconds per GPU nanosecond
};

}  // namespace reprise::detail
