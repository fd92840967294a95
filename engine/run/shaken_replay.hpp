// ShakenReplay: replays a recording in one order after another, each from the same contents of memory. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/poisoned_recording.hpp"
#include "run/shaken_memory.hpp"
#include "schedule/schedule.hpp"

namespace reprise::detail {

class ShakenReplay {
 public:
  // `recording` is checked. Saves what replays may change.
  ShakenReplay(Device device, Queue queue, std::shared_ptr<const Recording> recording, const ShakeDesc& desc);
  ShakenReplay(const ShakenReplay&) = delete;
  ShakenReplay& operator=(const ShakenReplay&) = delete;

  // What memory holds after it.
  [[nodiscard]] ShakenMemory::Image run(std::span<const std::uint32_t> order, const Poison& poison);
  // The same of the first `count` nodes alone, and what the slab of the transients then holds.
  struct Halfway {
    ShakenMemory::Image memory, slab;
  };
  [[nodiscard]] Halfway run_until(std::span<const std::uint32_t> order, std::uint32_t count, const Poison& poison);

  [[nodiscard]] const Recording& recording() const noexcept { return *recording_; }
  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }
  [[nodiscard]] const PoisonedRecording& poisoned() const noexcept { return *poisoned_; }
  [[nodiscard]] ShakenMemory& memory() noexcept { return *memory_; }
  [[nodiscard]] std::uint32_t replays() const noexcept { return replays_; }
  [[nodiscard]] bool has_transients() const noexcept { return static_cast<bool>(slab_); }

 private:
  void replay(std::span<const std::uint32_t> order, std::uint32_t count, const Poison& poison);
  [[nodiscard]] ShakenMemory::Image read_slab();

  Device device_;
  Queue queue_;
  std::shared_ptr<const Recording> recording_;
  Schedule schedule_;
  std::shared_ptr<CapturePool> pool_;
  GpuRef<std::byte> slab_;  // empty: there are no transients
  HostRef<std::byte> slab_stage_;
  CapturedGraph save_slab_;  // made when it is first needed
  std::optional<PoisonedRecording> poisoned_;
  std::optional<ShakenMemory> memory_;
  std::uint32_t replays_ = 0;
};

}  // namespace reprise::detail
