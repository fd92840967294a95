// TimestampRing: when each replay of one graph began and ended on the GPU, noted by two one-thread
// kernels in the graph itself, in a ring in device memory. Reading it asks nothing of the queues
// that run the replays; what was overwritten before it was read is counted. Threads: read() one at
// a time; the GPU writes meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/readback.hpp"

namespace reprise::detail {

// Of one replay, on the GPU's clock.
struct ReplayTimestamps {
  std::uint64_t replay = 0, began = 0, ended = 0;
};

class TimestampRing {
 public:
  static constexpr std::uint64_t kSlots = 4096;                   // 128 KiB a graph
  static constexpr std::uint64_t kHeadWords = 4, kSlotWords = 4;  // as stamps.cu has them

  TimestampRing(std::shared_ptr<const CudaContext> context, std::shared_ptr<Readback> readback);

  [[nodiscard]] std::uint64_t* memory() const noexcept { return memory_.words(); }
  [[nodiscard]] static constexpr std::uint64_t mask() noexcept { return kSlots - 1; }
  // Appends the replays that ended since the last call, ascending; returns how many of them were
  // overwritten.
  [[nodiscard]] std::uint64_t read(std::vector<ReplayTimestamps>& into);

 private:
  const std::shared_ptr<Readback> readback_;
  const InstrumentationMemory memory_;
  std::uint64_t seen_ = 0;  // replays
  std::vector<std::uint64_t> words_;
};

}  // namespace reprise::detail
