// TimestampRing: the start and end of each replay of one graph on the GPU. Two one-thread kernels
// in the graph write them to a ring in device memory. Reading the ring does not involve the queues
// that run the replays; overwritten replays are counted. Threads: read() one at a time; the GPU
// writes concurrently.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/timing/readback.hpp"

namespace reprise::detail {

// Times of one replay on the GPU's clock.
struct ReplayTimestamps {
  std::uint64_t replay = 0, started = 0, ended = 0;
};

class TimestampRing {
 public:
  static constexpr std::uint64_t kSlots = 4096;                   // 128 KiB per graph
  static constexpr std::uint64_t kHeadWords = 4, kSlotWords = 4;  // see timestamps.cu

  TimestampRing(std::shared_ptr<const CudaContext> context, std::shared_ptr<Readback> readback);

  [[nodiscard]] std::uint64_t* memory() const noexcept { return memory_.words(); }
  [[nodiscard]] static constexpr std::uint64_t mask() noexcept { return kSlots - 1; }
  // Appends the replays that ended since the last call, ascending. Returns the number of
  // overwritten replays.
  [[nodiscard]] std::uint64_t read(std::vector<ReplayTimestamps>& into);

 private:
  const std::shared_ptr<Readback> readback_;
  const InstrumentationMemory memory_;
  std::uint64_t last_read_ = 0;  // the last replay read
  std::vector<std::uint64_t> words_;
};

}  // namespace reprise::detail
