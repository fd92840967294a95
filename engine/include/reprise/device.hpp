// Device: one GPU, or the host device (the CPU as a complete device). Makes queues, pools, kernels,
// command buffers, graphs. Threads: every call may come from any thread. A Device is a counted
// handle; objects made from it keep it alive.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/compile_cache.hpp>
#include <reprise/device_info.hpp>
#include <reprise/device_state.hpp>
#include <reprise/kernel.hpp>
#include <reprise/pool.hpp>
#include <reprise/queue.hpp>

namespace reprise {

namespace detail {
class DeviceCore;
}

// One buffer before and after Device::rebuild().
struct RebuiltBuffer {
  BufferView before, after;
};

class Device {
 public:
  Device() = default;
  explicit Device(std::shared_ptr<detail::DeviceCore> core) noexcept : core_(std::move(core)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] const DeviceInfo& info() const noexcept;

  [[nodiscard]] Queue create_queue(const QueueDesc& desc = {}) const;
  [[nodiscard]] std::shared_ptr<CapturePool> create_pool(const PoolDesc& desc = {}) const;
  // Throws KernelNotFound where the description has nothing for this device, ParameterMismatch.
  [[nodiscard]] Kernel load_kernel(const KernelDesc& desc) const;
  [[nodiscard]] CommandBuffer create_command_buffer(const CommandBufferDesc& desc = {}) const;
  [[nodiscard]] Condition create_condition(const ConditionDesc& desc = {}) const;
  // Validates, schedules, plans and instantiates. Throws what validation found, OutOfMemory,
  // WrongDevice, InvalidState.
  [[nodiscard]] CapturedGraph compile(const CommandBuffer& commands,
                                      const CompileDesc& desc = {}) const;

  // Compiles of recordings that have the structure of an earlier one go through the stages in a
  // fraction of the time; the graph is the same.
  [[nodiscard]] CompileCacheReport compile_cache() const;
  void set_compile_cache_budget(
      std::uint64_t bytes) const;  // 64 MiB unless said otherwise; 0: nothing is kept

  // Of all pools and graphs.
  [[nodiscard]] MemoryStatistics memory() const noexcept;
  // Bytes of device memory that they may take together, from the next allocation on; 0: as many as
  // there are.
  void set_memory_budget(std::uint64_t bytes) const;
  // CapturePool::trim() of every graph, with a pool or without.
  TrimReport trim() const;

  void wait_idle() const;  // every queue of this device
  // Counts up when the device is lost; handles and graphs of an earlier generation are stale.
  [[nodiscard]] std::uint32_t generation() const noexcept;
  [[nodiscard]] bool is_lost() const noexcept;
  [[nodiscard]] DeviceState state() const noexcept;
  // Ends the device for everybody: from now on every handle, queue and graph of it is stale, and
  // nothing new is made; returns when what was launched before is over. Fences stay good. Again is
  // a no-op. Throws DeviceLost where it finds that out.
  void shut_down() const;
  // Makes the device lost, as a faulting kernel would; for testing what an application does then.
  // Host device only (else Unsupported).
  void lose() const;
  // Makes a lost device usable again: buffers get new memory with undefined contents, command
  // buffers stay and can be compiled again, old handles and graphs stay stale. Throws Unsupported
  // where the driver cannot (CUDA: start a new process).
  [[nodiscard]] std::vector<RebuiltBuffer> rebuild() const;

  [[nodiscard]] const std::shared_ptr<detail::DeviceCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::DeviceCore> core_;
};

}  // namespace reprise
