// SavedMemory: the memory that replays of one recording write, and memory for a copy of it. Records
// the commands that copy buffers; the caller executes them. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/device.hpp>

#include "record/recording.hpp"
#include "runtime/memory/pool_buffer.hpp"

namespace reprise::detail {

class SavedMemory {
 public:
  struct Area {
    std::string name;
    std::shared_ptr<PoolBuffer> buffer;  // null: host memory that a copy writes
    std::byte* host = nullptr;           // that host memory
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  // in the copy; of host memory: in the image of host memory
  };

  // `buffers`: persistent, each once. `recording` names the host memory that its copies write.
  // `kind`: of the memory for the copy of the buffers, Device or PinnedHost. Throws OutOfMemory.
  SavedMemory(Device device, std::vector<std::shared_ptr<PoolBuffer>> buffers,
              const Recording& recording, BufferKind kind);

  // Buffers first.
  [[nodiscard]] const std::vector<Area>& areas() const noexcept { return areas_; }
  // The copy of the buffers; empty without buffers.
  [[nodiscard]] const BufferView& copy() const noexcept { return copy_; }
  enum class Direction : std::uint8_t { Save, Restore };
  [[nodiscard]] CommandBuffer record(std::string_view label, Direction direction) const;

  // Host memory is copied by the calling thread; no replay of the recording may run.
  // `image`: host_bytes().
  [[nodiscard]] std::uint64_t host_bytes() const noexcept { return host_bytes_; }
  void save_host(std::span<std::byte> image) const noexcept;
  void restore_host(std::span<const std::byte> image) const noexcept;

 private:
  void add_host_memory(const Recording& recording);

  Device device_;
  std::vector<Area> areas_;
  std::uint64_t host_bytes_ = 0;
  std::shared_ptr<CapturePool> pool_;
  BufferView copy_;
};

}  // namespace reprise::detail
