// DeviceCore: one opened device: its backend, its registries, and the locks that order its work.
// Everything made from a device holds it. Knows its backend through the interface only, and
// queues, buffers and graphs only as entries of a registry.
// Threads: any thread. Lock order: rebuild_mutex(), a command buffer's lock, order(), a graph's
// mutex, then one of: the registry's, the deferred deletion queue's, the backend's. No code of the
// application runs under any of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/message.hpp>

#include "backend/backend.hpp"
#include "base/reserve_one.hpp"
#include "base/slot_map.hpp"
#include "compile/plan_cache.hpp"
#include "profile/device_trace.hpp"
#include "record/command_buffer_core.hpp"
#include "runtime/core/deferred_deletion_queue.hpp"
#include "runtime/core/memory_budget.hpp"

namespace reprise::detail {

class InstanceCore;
class PoolBuffer;
class PoolUser;

// A queue as its device sees it.
class DeviceQueue {
 public:
  // Blocks until all submitted work is complete. Returns at once for a queue of an earlier
  // generation. Throws DeviceLost.
  virtual void wait_idle_if_current() = 0;

 protected:
  ~DeviceQueue() = default;
};

// A graph as its device sees it.
class DeviceGraph {
 public:
  // A warning about exceptions of host callbacks that no fence has rethrown, once. Empty if there
  // are none.
  [[nodiscard]] virtual std::optional<Message> take_unseen_errors() = 0;

 protected:
  ~DeviceGraph() = default;
};

struct LoadedKernel {
  std::shared_ptr<const KernelCore> kernel;
  KernelDesc desc;
};

// Throws InvalidArgument for a description with a null name or source, or an empty name. `type`:
// "KernelDesc".
void require_named(std::string_view type, const char* name, const char* source);

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
  [[nodiscard]] DeviceTrace* trace() const noexcept { return trace_.get(); }  // null: no trace
  // How executables of this device measure their nodes.
  [[nodiscard]] Instrumentation instrumentation() const noexcept;
  [[nodiscard]] const std::shared_ptr<DeviceStatus>& status() const noexcept { return status_; }
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return status_->generation.load(std::memory_order_acquire);
  }
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] DeferredDeletionQueue& deferred() noexcept { return deferred_; }
  [[nodiscard]] PlanCache& plans() noexcept { return plans_; }
  // Counts the device memory that pools and graphs hold.
  [[nodiscard]] MemoryBudget& memory() noexcept { return memory_; }
  // Throws StaleHandle after shut_down().
  void require_open(Stage stage) const;
  // As require_open(); throws DeviceLost until a lost device is rebuilt.
  void require_usable(Stage stage) const;

  // Held while launches that share buffers are ordered and submitted, and while buffers and graphs
  // register with each other.
  [[nodiscard]] std::mutex& order() noexcept { return order_; }
  // Held while the device is rebuilt.
  [[nodiscard]] std::mutex& rebuild_mutex() noexcept { return rebuild_mutex_; }

  // --- Graphs, which may hold memory of this device. Under order(). ---
  // Reserves room for one more, so that add_graph() cannot fail.
  void prepare_graph() {
    reserve_one(users_);
    reserve_one(graphs_);
  }
  void add_graph(DeviceGraph& graph, PoolUser& user) noexcept {
    graphs_.push_back(&graph);
    users_.push_back(&user);
  }
  void remove_graph(DeviceGraph& graph, PoolUser& user) noexcept {
    std::erase(graphs_, &graph);
    std::erase(users_, &user);
  }
  [[nodiscard]] const std::vector<PoolUser*>& users() const noexcept { return users_; }

  // --- Registry. A buffer is registered until it is destroyed or its pool is cleared. ---
  [[nodiscard]] BufferId add_buffer(const std::shared_ptr<PoolBuffer>& buffer);
  void remove_buffer(BufferId id) noexcept;
  // Includes buffers of borrowed memory, which no handle of the application names.
  [[nodiscard]] std::vector<std::shared_ptr<PoolBuffer>> live_buffers();
  void add_queue(const std::shared_ptr<DeviceQueue>& queue);
  [[nodiscard]] std::shared_ptr<CommandBufferCore> make_commands(const CommandBufferDesc& desc);
  [[nodiscard]] std::vector<std::shared_ptr<CommandBufferCore>> live_commands();
  // Throws KernelNotFound, ParameterMismatch, DeviceLost.
  [[nodiscard]] std::shared_ptr<const KernelCore> load_kernel(const KernelDesc& desc);
  // A loaded kernel of this description; null: none.
  [[nodiscard]] std::shared_ptr<const KernelCore> find_kernel(const KernelDesc& desc);
  [[nodiscard]] std::vector<LoadedKernel> live_kernels();

  void wait_idle();
  void shut_down();
  // Reports exceptions of host callbacks that no fence has rethrown. The caller has waited for the
  // work and holds no lock.
  void report_unseen_errors();

 private:
  void wait_for_queues();

  struct KernelEntry {
    std::weak_ptr<const KernelCore> kernel;
    KernelDesc desc;
    [[nodiscard]] bool expired() const noexcept { return kernel.expired(); }
  };

  std::shared_ptr<InstanceCore> instance_;
  std::shared_ptr<DeviceStatus> status_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<DeviceTrace> trace_;
  PlanCache plans_;
  std::mutex rebuild_mutex_, order_, registry_;
  SlotMap<std::weak_ptr<PoolBuffer>, BufferId> buffers_;    // under registry_
  std::vector<std::weak_ptr<DeviceQueue>> queues_;          // under registry_
  std::vector<std::weak_ptr<CommandBufferCore>> commands_;  // under registry_
  std::vector<KernelEntry> kernels_;                        // under registry_
  std::vector<DeviceGraph*> graphs_;                        // under order_
  std::vector<PoolUser*> users_;                            // under order_
  MemoryBudget memory_;
  DeferredDeletionQueue deferred_;  // joins its thread before the backend is destroyed
};

}  // namespace reprise::detail
