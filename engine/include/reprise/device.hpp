// Device: a GPU, or the host device (the CPU as a complete device). Creates queues, pools,
// kernels, command buffers and graphs. Threads: all calls are safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/compile_cache.hpp>
#include <reprise/device_info.hpp>
#include <reprise/device_state.hpp>
#include <reprise/kernel.hpp>
#include <reprise/pool.hpp>
#include <reprise/queue.hpp>

namespace reprise::detail {
class DeviceCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A buffer before and after Device::rebuild().
struct RebuiltBuffer {
  BufferView before;  // stale
  BufferView after;   // same kind, size, alignment and name; undefined contents
};

// A reference-counted handle. Objects that were created from a device keep it alive. All members
// of an empty handle throw NotInitialized. Members that create an object throw StaleHandle after
// shut_down() and DeviceLost while the device is lost. In a host callback, create_queue,
// load_kernel, constant, compile, trim, wait_idle, shut_down and rebuild throw InvalidState.
class REPRISE_API Device {
 public:
  Device() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] const DeviceInfo& info() const;

  // Throws InvalidArgument for a priority outside of the device's range.
  [[nodiscard]] Queue create_queue(const QueueDesc& desc = {}) const;
  [[nodiscard]] std::shared_ptr<CapturePool> create_pool(const PoolDesc& desc = {}) const;
  // Throws KernelNotFound if the description has no code for this device, ParameterMismatch if
  // the compiled parameters differ from the description, InvalidArgument for a description without
  // a name, or whose parameters overlap or exceed DeviceLimits::max_parameter_bytes.
  [[nodiscard]] Kernel load_kernel(const KernelDesc& desc) const;
  // The memory of a REPRISE_CONSTANT on this device, as a buffer of values of type T: that of the
  // variable or of its elements. update() and copy() upload values. Which kernels read it is not
  // declared: order them behind an upload of the same recording with barrier() or edge(). Devices
  // of one GPU have a variable each; the host device has one in a process. Throws KernelNotFound as
  // load_kernel(), ArgumentType for another type, InvalidArgument for a description without a name.
  template <class T>
  [[nodiscard]] GpuRef<T> constant(const ConstantDesc& desc) const {
    return GpuRef<T>(constant_memory(desc, detail::value_type<T>));
  }
  [[nodiscard]] CommandBuffer create_command_buffer(const CommandBufferDesc& desc = {}) const;
  [[nodiscard]] Condition create_condition(const ConditionDesc& desc = {}) const;
  // Validates, orders, lowers, places transients and instantiates. The command buffer may be
  // recorded again afterwards. Throws validation errors, InvalidState unless the command buffer is
  // executable, WrongDevice, NotPerReplica, OutOfMemory, SlabExhausted, NativeFailure.
  [[nodiscard]] CapturedGraph compile(const CommandBuffer& commands,
                                      const CompileDesc& desc = {}) const;

  // The plan cache, which lets compile() reuse the dependencies, lowering and placement of an
  // earlier recording of equal structure. The resulting graph is the same.
  [[nodiscard]] CompileCacheReport compile_cache() const;
  // Maximum size of the plan cache in bytes; 64 MiB by default. 0 disables the cache.
  void set_compile_cache_budget(std::uint64_t bytes);

  // The memory of all pools and graphs.
  [[nodiscard]] MemoryStatistics statistics() const;
  // Limits the device memory that pools and graphs use together, from the next allocation on.
  // nullopt: no limit.
  void set_memory_budget(std::optional<std::uint64_t> bytes);
  // CapturePool::trim() for every graph of the device, with or without a pool.
  TrimReport trim();

  // Blocks until all queues of this device are idle. Throws DeviceLost, StaleHandle.
  void wait_idle() const;
  // Increases when the device is lost. Handles and graphs of earlier generations are stale.
  [[nodiscard]] std::uint32_t generation() const;
  [[nodiscard]] bool is_lost() const;
  [[nodiscard]] DeviceState state() const;
  // Blocks until all launched work has completed, then makes every handle, queue and graph of the
  // device stale and refuses to create new ones. Fences remain valid. Repeated calls have no
  // effect. Throws DeviceLost if the device is found to be lost while waiting.
  void shut_down();
  // Makes the device lost as a faulting kernel would, to test an application's recovery. Throws
  // Unsupported on a GPU, StaleHandle.
  void simulate_loss();
  // Makes a lost device usable. Buffers get new memory with undefined contents; command buffers
  // stay valid and can be compiled again; old handles and graphs stay stale. Throws InvalidState
  // unless the device is lost, Unsupported if the driver does not return the device to this
  // process (CUDA: start a new process).
  [[nodiscard]] std::vector<RebuiltBuffer> rebuild();

 private:
  friend struct detail::HandleAccess;
  [[nodiscard]] BufferView constant_memory(const ConstantDesc& desc, const ValueType& type) const;
  explicit Device(std::shared_ptr<detail::DeviceCore> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<detail::DeviceCore> core_;
};

}  // namespace reprise::inline REPRISE_ABI
