// ReorderedReplay: replays a recording in different orders, each from the same memory contents.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "race/memory_checkpoint.hpp"
#include "race/poisoned_recording.hpp"

namespace reprise::detail {

class ReorderedReplay {
 public:
  // `recording` is validated. Saves the memory that replays may change.
  ReorderedReplay(Device device, Queue queue, std::shared_ptr<const Recording> recording,
                  const RaceDesc& desc);
  ReorderedReplay(const ReorderedReplay&) = delete;
  ReorderedReplay& operator=(const ReorderedReplay&) = delete;

  // The memory contents after the replay.
  [[nodiscard]] MemoryCheckpoint::Image run(std::span<const std::uint32_t> order,
                                            const Poison& poison);
  // The memory and slab contents after a replay of the first `count` nodes.
  struct PartialResult {
    MemoryCheckpoint::Image memory, slab;
  };
  [[nodiscard]] PartialResult run_until(std::span<const std::uint32_t> order, std::uint32_t count,
                                        const Poison& poison);

  [[nodiscard]] const Recording& recording() const noexcept { return *recording_; }
  [[nodiscard]] const DependencyGraph& dependencies() const noexcept { return dependencies_; }
  [[nodiscard]] const PoisonedRecording& poisoned() const noexcept { return *poisoned_; }
  [[nodiscard]] MemoryCheckpoint& memory() noexcept { return *memory_; }
  [[nodiscard]] std::uint32_t replays() const noexcept { return replays_; }
  [[nodiscard]] bool has_transients() const noexcept { return static_cast<bool>(slab_); }

 private:
  void replay(std::span<const std::uint32_t> order, std::uint32_t count, const Poison& poison);
  [[nodiscard]] MemoryCheckpoint::Image read_slab();

  Device device_;
  Queue queue_;
  std::shared_ptr<const Recording> recording_;
  DependencyGraph dependencies_;
  std::shared_ptr<CapturePool> pool_;
  GpuRef<std::byte> slab_;  // empty without transients
  HostRef<std::byte> slab_stage_;
  CapturedGraph save_slab_;  // compiled on first use
  std::optional<PoisonedRecording> poisoned_;
  std::optional<MemoryCheckpoint> memory_;
  std::uint32_t replays_ = 0;
};

}  // namespace reprise::detail
