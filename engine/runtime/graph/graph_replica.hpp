// GraphReplica: one replica of a compiled graph: launches and uploads its executable, and orders
// that with other work on the same buffers. Knows nothing of the graph's other replicas. Held by
// its CompiledGraph. When that drops it, everything that pending launches use goes to the deferred
// deletion queue.
// Threads: any thread. A launch takes the replica's mutex, uncontended in ordinary use; launches of
// replicas that share buffers take DeviceCore::order() first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/graph_op.hpp>

#include "record/command_buffer_core.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_executable.hpp"
#include "runtime/graph/scalar_table.hpp"
#include "runtime/graph/slab_residency.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/memory/pool_user.hpp"
#include "runtime/queue/launched_graph.hpp"
#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class DeviceCore;
class PoolCore;
class QueueCore;

// A persistent buffer, and all accesses of a replica's commands to it.
struct BufferUse {
  std::shared_ptr<PoolBuffer> buffer;
  Access access;
  std::uint32_t index = kNone;  // in recording.buffers; kNone: the proxy of a shared slab
};

// The persistent buffers, borrowed memory included, that replica `replica` uses when it runs
// `recording` with `memory`. Not under order().
[[nodiscard]] std::vector<BufferUse> collect_buffer_uses(const std::shared_ptr<DeviceCore>& device,
                                                         const Recording& recording,
                                                         const TransientMemory& memory,
                                                         std::uint32_t replica);

class GraphReplica final : public PendingSource,
                           public GraphReplays,
                           public DeviceGraph,
                           public PoolUser,
                           public RankAgreement::Graph {
 public:
  // Registers the executable with its trace, its buffers and its pools. `messages`: of its
  // compilation, for the trace. Throws StaleHandle if a buffer was cleared meanwhile.
  [[nodiscard]] static std::shared_ptr<GraphReplica> make(
      std::unique_ptr<GraphExecutable> executable, const std::vector<Message>& messages);
  explicit GraphReplica(std::unique_ptr<GraphExecutable> executable);
  GraphReplica(const GraphReplica&) = delete;
  GraphReplica& operator=(const GraphReplica&) = delete;
  ~GraphReplica() override;

  // --- Constant ---
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] const std::shared_ptr<CapturePool>& pool() const noexcept { return pool_; }
  [[nodiscard]] const ReplicaIndex& index() const noexcept { return index_; }

  // --- Launches. `self` owns this. ---
  Fence launch(const std::shared_ptr<GraphReplica>& self, const std::shared_ptr<QueueCore>& queue);
  void upload(const std::shared_ptr<QueueCore>& queue);
  // Launches `exec` ordered as a replay of the replica, without counting it as one.
  void launch_uncounted(const std::shared_ptr<QueueCore>& queue, BackendExec& exec);
  // Throws as launch() would.
  void require_launchable(const QueueCore& queue, Stage stage) const;
  // Throws Unsupported for an adopted graph, StaleHandle if the device was lost or shut down.
  void require_updatable(std::string_view verb) const;
  // Throws StaleHandle if the device was lost or shut down.
  void require_current(std::string_view verb, Stage stage) const;

  // --- State ---
  [[nodiscard]] std::uint64_t replays() const noexcept {
    return replays_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_uploaded() const noexcept {
    return uploaded_.load(std::memory_order_relaxed);
  }
  // True if its buffers record its launches.
  [[nodiscard]] bool is_shared() const noexcept { return shared_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_pending() const noexcept override;
  [[nodiscard]] std::shared_ptr<const Plan> current_plan() const;
  [[nodiscard]] std::vector<LoopReport> loops();
  void set_profile(ProfileMode mode);
  void require_all_ranks() const override;
  [[nodiscard]] std::string unfinished() const override;
  void report_wait(std::uint64_t replay, std::chrono::milliseconds time) const override;
  [[nodiscard]] Error add_unfinished(const Error& error) const override;
  void report_timeout(std::uint64_t replay, std::chrono::nanoseconds timeout,
                      const std::string& queue) const override;

  // --- Residency of the slab. The caller holds no lock. ---
  // Maps the slab before a caller passes transient addresses to the driver. Reclaims idle memory if
  // there is too little. Throws SlabExhausted, OutOfMemory.
  void make_resident();
  // make_resident(), and forbids trimming until unpin_resident().
  void pin_resident();
  void unpin_resident() noexcept;

  // --- DeviceGraph ---
  [[nodiscard]] std::optional<Message> take_unseen_errors() override;
  // --- PoolUser ---
  [[nodiscard]] const PoolCore* home_pool() const noexcept override;
  [[nodiscard]] std::uint32_t trace_id() const noexcept override { return trace_id_; }
  [[nodiscard]] QueuePoint last() const override;
  void track(BufferHistory& buffer, Access access) noexcept override;
  [[nodiscard]] HeldSlab held_slab() const override;
  [[nodiscard]] TrimResult trim_own_slab(std::uint64_t& bytes) override;
  [[nodiscard]] bool can_trim() const override;
  void mark_trimmed() override;
  void trace_trim() const override;

  // --- For updates and tuning, of which CompiledGraph lets one run at a time ---
  // Valid until the next replace_executable().
  [[nodiscard]] const GraphExecutable& executable() const noexcept { return *executable_; }
  [[nodiscard]] BackendExec& exec() const noexcept { return *executable_->exec; }
  [[nodiscard]] const std::vector<BufferUse>& uses() const noexcept { return uses_; }
  // Adds a pool to those that list this graph. Under order().
  void attach_pool(const std::shared_ptr<PoolCore>& pool);

  // Exclusive access to the executable between two launches: holds the replica's mutex.
  class Edit {
   public:
    explicit Edit(GraphReplica& replica) : replica_(replica), lock_(replica.mutex_) {}
    [[nodiscard]] GraphExecutable& executable() const noexcept { return *replica_.executable_; }
    [[nodiscard]] ScalarTable& scalars() const noexcept { return replica_.scalars_; }
    // Under order() too.
    [[nodiscard]] std::vector<BufferUse>& uses() const noexcept { return replica_.uses_; }
    // The number of the next replay among those of the current executable, from 1.
    [[nodiscard]] std::uint64_t next_replay() const noexcept {
      return replica_.replays() - replica_.executable_->replays_before + 1;
    }
    enum class Upload : std::uint8_t { Needed, Done };
    // Makes `next` the executable from the next launch on, as another version of the graph in the
    // trace. An executable without memory of its own takes over the current one's. The replaced
    // executable is destroyed after its launches complete; with host callbacks, when the replica
    // is. Strong exception guarantee.
    void replace_executable(std::unique_ptr<GraphExecutable> next, Upload upload) const;

   private:
    GraphReplica& replica_;
    const std::lock_guard<std::mutex> lock_;
  };

 private:
  void attach();
  void share_all();                                 // under order()
  void wait_for_previous_launch(QueueCore& queue);  // under mutex_
  void wait_for_hazards(QueueCore& queue);          // under order() and mutex_
  void record_accesses() noexcept;                  // under order() and mutex_
  // Runs `submission`, which returns its serial, after the work that it conflicts with.
  template <class Submission>
  void submit(const std::shared_ptr<QueueCore>& queue, Stage stage, Submission&& submission);
  // The serial of a replay of the executable. Under mutex_.
  [[nodiscard]] std::uint64_t submit_replay(QueueCore& queue);
  [[noreturn]] void rethrow_with_names(const Error& error, const QueueCore& queue,
                                       Stage stage) const;              // under mutex_
  void trace_memory(std::string_view id, std::string_view verb) const;  // under mutex_

  std::unique_ptr<GraphExecutable> executable_;  // under mutex_; never null
  const ReplicaIndex index_;
  const std::shared_ptr<DeviceCore> device_;
  const std::shared_ptr<CapturePool> pool_;
  const std::string label_;
  const std::uint32_t generation_;
  const std::uint32_t trace_id_;                  // of all its executables
  std::shared_ptr<LaunchedGraph> launched_;       // for the fences; set by make()
  std::vector<BufferUse> uses_;                   // by index; under order() and mutex_
  std::vector<std::shared_ptr<PoolCore>> pools_;  // under order(); each once; of replica 0 only
  ScalarTable scalars_;                           // under mutex_
  // Under mutex_; oldest first. Kept for the exceptions of their host callbacks.
  std::vector<std::unique_ptr<GraphExecutable>> replaced_executables_;
  SlabResidency residency_;
  std::atomic<bool> shared_{false}, all_shared_{false}, uploaded_{false};
  std::atomic<std::uint64_t> replays_{0};
  mutable std::mutex mutex_;
  mutable std::uint64_t timed_out_replay_ = 0;  // the last one that report_timeout() reported
};

// Keeps the slab of a replica mapped while it exists.
class ResidencyPin {
 public:
  // Throws as GraphReplica::make_resident().
  explicit ResidencyPin(GraphReplica& replica) : replica_(replica) { replica.pin_resident(); }
  ResidencyPin(const ResidencyPin&) = delete;
  ResidencyPin& operator=(const ResidencyPin&) = delete;
  ~ResidencyPin() { replica_.unpin_resident(); }

 private:
  GraphReplica& replica_;
};

}  // namespace reprise::detail
