// DeviceCore: one opened device, held by everything that was made from it. Knows its backend by the
// interface only. Threads: any thread. Locks, in the order in which they are taken: a rebuild's, a
// command buffer's, order(), a graph's mutex, then any one of: the registry's, the retire queue's,
// the backend's own. No code of the application runs under one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <reprise/device.hpp>

#include "backend/backend.hpp"
#include "base/slot_map.hpp"
#include "compile/plan_cache.hpp"
#include "profile/device_trace.hpp"
#include "record/command_buffer_core.hpp"
#include "runtime/core/deferred_deletion_queue.hpp"
#include "runtime/core/memory_budget.hpp"

namespace reprise::detail {

class GraphCore;
class InstanceCore;
class PoolBuffer;
class PoolCore;

class DeviceCore : public std::enable_shared_from_this<DeviceCore> {
 public:
  [[nodiscard]] static std::shared_ptr<DeviceCore> open(std::shared_ptr<InstanceCore> instance,
                                                        BackendProvider& provider,
                                                        std::uint32_t index,
                                                        const DeviceInfo& info);
  DeviceCore(std::shared_ptr<InstanceCore> instance, std::shared_ptr<DeviceStatus> status,
             std::unique_ptr<Backend> backend);

  [[nodiscard]] const DeviceInfo& info() const noexcept { return backend_->info(); }
  [[nodiscard]] const InstanceCore& instance() const noexcept { return *instance_; }
  [[nodiscard]] DeviceTrace* trace() const noexcept { return trace_.get(); }  // null: there is none
  [[nodiscard]] const std::shared_ptr<DeviceStatus>& status() const noexcept { return status_; }
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return status_->generation.load(std::memory_order_acquire);
  }
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] DeferredDeletionQueue& retired() noexcept { return retired_; }
  [[nodiscard]] PlanCache& plans() noexcept { return plans_; }
  // Throws DeviceLost until a lost device was rebuilt, StaleHandle once it was shut down.
  void require_usable(Stage stage) const;

  // The device's memory, which the caller counts; frees what is over, and trims what is idle, and
  // tries once more where there is too little. Throws OutOfMemory, DeviceLost. Without any lock.
  [[nodiscard]] std::byte* allocate(BufferKind kind, std::uint64_t bytes);
  [[nodiscard]] MemoryBudget& memory() noexcept { return memory_; }
  // The pages of idle graphs compiled with `pool`, null: of all, go back. Without any lock.
  TrimReport trim(const PoolCore* pool);
  // trim(), when what was dropped and is over is freed. Without any lock.
  void make_room(const PoolCore* pool);
  // Who takes most of the memory of `pool`, null: of the device, in words. Without any lock.
  [[nodiscard]] std::string largest_holders(const PoolCore* pool);
  // Under order(): graphs that there are. Call prepare_graph() first, so that add_graph() can't
  // fail.
  void prepare_graph() { graphs_.reserve(graphs_.size() + 1); }
  void add_graph(GraphCore& graph) noexcept { graphs_.push_back(&graph); }
  void remove_graph(GraphCore& graph) noexcept { std::erase(graphs_, &graph); }

  // Held while launches that share buffers are ordered and submitted, and while buffers and graphs
  // get to know each other.
  [[nodiscard]] std::mutex& order() noexcept { return order_; }

  // Identities of buffers. A buffer is in here from its making until it dies or its pool is
  // cleared.
  [[nodiscard]] BufferId add_buffer(PoolBuffer& buffer);
  void remove_buffer(BufferId id) noexcept;
  [[nodiscard]] std::vector<std::shared_ptr<PoolBuffer>> live_buffers();

  void add_queue(const std::shared_ptr<QueueCore>& queue);
  [[nodiscard]] std::shared_ptr<CommandBufferCore> make_commands(const CommandBufferDesc& desc);
  void wait_idle();
  void shut_down();
  // Throws KernelNotFound, ParameterMismatch, DeviceLost.
  [[nodiscard]] std::shared_ptr<const KernelCore> load_kernel(const KernelDesc& desc);
  // See Device::rebuild().
  [[nodiscard]] std::vector<RebuiltBuffer> rebuild();

 private:
  void wait_for_queues();
  // What rebuild() puts in the place of buffers and kernels of before.
  class Replacements;
  [[nodiscard]] std::vector<RebuiltBuffer> replace_everything();

  std::shared_ptr<InstanceCore> instance_;
  std::shared_ptr<DeviceStatus> status_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<DeviceTrace> trace_;
  PlanCache plans_;
  std::mutex rebuilding_, order_, registry_;
  SlotMap<PoolBuffer*, BufferId> buffers_;                  // under registry_
  std::vector<std::weak_ptr<QueueCore>> queues_;            // under registry_
  std::vector<std::weak_ptr<CommandBufferCore>> commands_;  // under registry_
  struct Loaded {
    std::weak_ptr<const KernelCore> kernel;
    KernelDesc desc;
    [[nodiscard]] bool expired() const noexcept { return kernel.expired(); }
  };
  std::vector<Loaded> kernels_;     // under registry_
  std::vector<GraphCore*> graphs_;  // under order_
  MemoryBudget memory_;
  DeferredDeletionQueue retired_;  // ends its thread before the backend goes
};

}  // namespace reprise::detail
