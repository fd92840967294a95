// BufferSnapshot: a copy of everything that replays of one graph write, to undo replays that only
// measure. It is no graph itself, so buffers do not become shared by it. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/device.hpp>

#include "backend/backend.hpp"
#include "plan/plan.hpp"
#include "runtime/memory/pool_buffer.hpp"

namespace reprise::detail {

class BufferSnapshot {
 public:
  // `written`: persistent buffers, each once. `recording` names the host memory that its copies
  // write. Allocates as many bytes. Throws OutOfMemory naming the bytes.
  BufferSnapshot(Device device, const std::vector<std::shared_ptr<PoolBuffer>>& written,
                 const Recording& recording);
  BufferSnapshot(const BufferSnapshot&) = delete;
  BufferSnapshot& operator=(const BufferSnapshot&) = delete;
  ~BufferSnapshot();

  // The executables that save and restore device memory; null if there is none. The caller orders
  // their launches.
  [[nodiscard]] BackendExec* save() const noexcept { return save_.get(); }
  [[nodiscard]] BackendExec* restore() const noexcept { return restore_.get(); }
  // Copies host memory on the calling thread; no replay of the graph may run.
  void save_host();
  void restore_host() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct HostArea {
    std::byte* memory;
    std::vector<std::byte> saved;
  };
  enum class Direction : std::uint8_t { Save, Restore };
  void find_host_memory(const Recording& recording);
  [[nodiscard]] std::unique_ptr<BackendExec> copies(
      const std::vector<std::shared_ptr<PoolBuffer>>& buffers, Direction direction) const;

  Device device_;
  std::uint64_t bytes_ = 0;
  std::vector<HostArea> host_;
  std::shared_ptr<CapturePool> pool_;
  GpuRef<std::byte> copy_;
  std::unique_ptr<BackendExec> save_, restore_;
};

}  // namespace reprise::detail
