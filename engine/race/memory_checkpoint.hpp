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
#include "runtime/memory/pool_buffer.hpp"

namespace reprise::detail {

class DeviceCore;

// A range of bytes that is compared.
struct CheckpointArea {
  std::string name;
  std::shared_ptr<PoolBuffer> buffer;   // null: host memory that a copy writes
  std::byte* host = nullptr;            // that host memory
  std::uint64_t offset = 0, bytes = 0;  // in an image
  // The address of the first byte.
  [[nodiscard]] std::uintptr_t begin() const noexcept {
    return reinterpret_cast<std::uintptr_t>(buffer ? buffer->address : host);
  }
};

// The bytes of one area that differ in two images.
struct AreaDifference {
  std::uint32_t area = 0;
  std::uint64_t first = 0, count = 0;  // bytes
};

class MemoryCheckpoint {
 public:
  using Image = std::vector<std::byte>;

  // Saves the current contents.
  MemoryCheckpoint(Device device, Queue queue, const Recording& recording, const RaceDesc& desc);
  MemoryCheckpoint(const MemoryCheckpoint&) = delete;
  MemoryCheckpoint& operator=(const MemoryCheckpoint&) = delete;
  ~MemoryCheckpoint();  // restores, unless finish() did

  [[nodiscard]] const std::vector<CheckpointArea>& areas() const noexcept { return areas_; }
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
  void add_buffers(const Recording& recording, const RaceDesc& desc);
  void add_host_memory(const Recording& recording);
  enum class Direction : std::uint8_t { IntoStage, FromStage };
  [[nodiscard]] CapturedGraph copies(std::string_view label, Direction direction) const;

  Device device_;
  Queue queue_;
  std::vector<CheckpointArea> areas_;
  std::vector<std::uint8_t> compared_;
  std::uint64_t bytes_ = 0, buffer_bytes_ = 0;
  std::shared_ptr<CapturePool> pool_;
  HostRef<std::byte> stage_;
  CapturedGraph save_, load_;
  Image initial_;
  bool is_restored_ = true;
};

// The first byte that differs and the number of such bytes; 0: none.
[[nodiscard]] AreaDifference compare_bytes(const std::byte* a, const std::byte* b,
                                           std::uint64_t bytes);

}  // namespace reprise::detail
