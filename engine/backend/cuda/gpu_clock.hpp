// GpuClock: a GPU's nanosecond clock (%globaltimer) on the host's steady clock. Asks the GPU many
// times for one pair of moments and keeps the pair that was closest together; two such pairs give
// how fast the clocks drift apart. The only place where GPU time becomes host time. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/readback.hpp"

namespace reprise::detail {

class GpuClock {
 public:
  // `echo` is reprise_clock_echo.
  GpuClock(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Readback> readback,
           std::shared_ptr<const CudaKernel> echo);
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;
  ~GpuClock();

  // Takes a new pair where the last one is older than a second and nobody else is about it. The GPU
  // answers when a one-thread kernel finds room on it; where it finds none for a while, what is
  // known stays. Throws DeviceLost and its like.
  void align();
  // Empty until the first pair is known.
  [[nodiscard]] std::optional<ClockPair> pair() const;
  // 0 stays 0, and everything is 0 until the first pair is known.
  [[nodiscard]] std::int64_t to_host(std::uint64_t device_time) const;

 private:
  [[nodiscard]] std::optional<ClockPair> measure();

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const Readback> readback_;
  const std::shared_ptr<const CudaKernel> echo_;
  std::uint64_t* mailbox_ = nullptr;  // pinned, both sides see it
  std::mutex aligning_;               // whoever asks the GPU
  mutable std::mutex mutex_;          // of what stands below
  std::optional<ClockPair> last_;
  double rate_ = 1;  // host nanoseconds for one of the GPU's
};

}  // namespace reprise::detail
