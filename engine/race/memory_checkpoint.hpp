// MemoryCheckpoint: the contents of all memory that replays of one recording may change. Reads,
// compares and restores them; the destructor restores them after an exception too.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/find_races.hpp>

#include "record/recording.hpp"
#include "runtime/memory/saved_memory.hpp"

namespace reprise::detail {

class DeviceCore;

// The bytes of one area that differ in two images.
struct AreaDifference {
  std::uint32_t area = 0;
  std::uint64_t first = 0, count = 0;  // bytes
};

class MemoryCheckpoint {
 public:
  using Image = std::vector<std::byte>;

  // Saves the current contents.
  MemoryCheckpoint(const Device& device, Queue queue, const Recording& recording,
                   const RaceDesc& desc);
  MemoryCheckpoint(const MemoryCheckpoint&) = delete;
  MemoryCheckpoint& operator=(const MemoryCheckpoint&) = delete;
  ~MemoryCheckpoint();  // restores, unless finish() did

  [[nodiscard]] const std::vector<SavedMemory::Area>& areas() const noexcept {
    return saved_.areas();
  }
  // Offset of the area in an image.
  [[nodiscard]] std::uint64_t offset(const SavedMemory::Area& area) const noexcept {
    return area.offset + (area.buffer ? 0 : saved_.copy().bytes());
  }
  // The current contents. Waits for the queue.
  [[nodiscard]] Image read();
  // Writes the contents at construction back.
  void restore();
  // restore() for the last time; unlike the destructor, it may throw.
  void finish() {
    restore();
    is_restored_ = true;
  }

  [[nodiscard]] std::vector<AreaDifference> differences(const Image& a, const Image& b) const;
  // Ignores the area in later comparisons.
  void exclude(std::uint32_t area) { compared_[area] = 0; }

 private:
  Queue queue_;
  SavedMemory saved_;
  std::vector<std::uint8_t> compared_;  // by area
  CapturedGraph save_, load_;           // empty without buffers
  Image initial_;
  bool is_restored_ = true;
};

// The first byte that differs and the number of such bytes; 0: none.
[[nodiscard]] AreaDifference compare_bytes(const std::byte* a, const std::byte* b,
                                           std::uint64_t bytes);

}  // namespace reprise::detail
