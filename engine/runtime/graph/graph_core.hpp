// GraphCore: one compiled graph: its plan, its executable, its slab, and where it was launched
// last; of a graph with instances, one of them, which knows the others where it is the first. Held
// by the CapturedGraph and by fences; when both are gone, everything that its last launch may touch
// goes to the retire queue. Threads: any thread. Launches take the graph's mutex; launches of
// graphs that share buffers take DeviceCore::order() first.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/graph_update.hpp>

#include "lowering/lowering_config.hpp"
#include "record/command_buffer_core.hpp"
#include "runtime/graph/graph_executable.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class DeviceCore;
class GraphReplicas;
class PoolCore;
class QueueCore;

class GraphCore final : public PendingSource {
 public:
  // Makes itself known to its buffers and pools. Throws StaleHandle where a buffer was cleared
  // meanwhile.
  [[nodiscard]] static std::shared_ptr<GraphCore> make(std::unique_ptr<GraphExecutable> body,
                                                       CompileReport report);
  GraphCore(std::unique_ptr<GraphExecutable> body, CompileReport report);
  GraphCore(const GraphCore&) = delete;
  GraphCore& operator=(const GraphCore&) = delete;
  ~GraphCore() override;

  // Before anybody else knows the graph. It is the first of them.
  void set_replicas(std::unique_ptr<GraphReplicas> replicas) noexcept;
  [[nodiscard]] GraphReplicas* replicas() const noexcept {
    return replicas_.get();
  }  // null: there are no others
  [[nodiscard]] const ReplicaIndex& instance() const noexcept { return instance_; }

  // These, and updates, of this instance alone. `self` is this graph's own owner.
  Fence launch(const std::shared_ptr<GraphCore>& self, const std::shared_ptr<QueueCore>& queue);
  void upload(const std::shared_ptr<QueueCore>& queue);
  void set_profile(ProfileMode mode);
  // Under order(): gives the pages of its slab back where no launch may use them. The next launch
  // takes them again. A slab that graphs share is looked at once: those that were are in `seen`.
  void trim(TrimReport& report, std::vector<const PoolSlab*>& seen);
  // Under order(): the bytes of its slab with pages, and of what graphs share what stands for it.
  struct Held {
    std::uint64_t bytes = 0;
    std::shared_ptr<PoolBuffer> shared;  // null: the graph's own
  };
  [[nodiscard]] Held held_slab() const;
  // Takes them now, for whoever shows addresses of transients to the driver. Without any lock.
  // Throws SlabExhausted, OutOfMemory.
  void make_resident();
  // And it is never trimmed again. The same.
  void pin_resident();

  // --- Updates: graph_update.cpp; what they do is said in <reprise/captured_graph.hpp> ---
  // The number of a scalar slot, for the two below; the same as long as the graph lives. Throws
  // InvalidArgument where there is none of this name.
  [[nodiscard]] std::uint32_t find_scalar(std::string_view name);
  void check_scalar(std::uint32_t scalar, std::uint64_t bytes) const;
  std::uint32_t set_scalar(std::uint32_t scalar, const void* value);
  [[nodiscard]] UpdateReport rebind(std::span<const BufferBinding> bindings,
                                    const UpdateDesc& desc);
  enum class Switch : std::uint8_t { Enable, Disable };
  void switch_command(const CommandRef& command, Switch how);
  [[nodiscard]] bool is_enabled(const CommandRef& command);
  [[nodiscard]] UpdateReport update(const std::shared_ptr<GraphCore>& self,
                                    const CommandBuffer& commands, const UpdateDesc& desc);
  // The two halves of it, while nobody else updates any instance: `commands` planned for this
  // graph, by any of its instances, and one that becomes that, whose launches are pending work of
  // `commands` from now on.
  struct NextPlan {
    std::shared_ptr<const Plan> plan;
    std::vector<Message> messages;
  };
  [[nodiscard]] NextPlan plan_update(const CommandBuffer& commands);
  [[nodiscard]] UpdateReport become(const std::shared_ptr<GraphCore>& self,
                                    const CommandBuffer& commands, const NextPlan& next,
                                    const UpdateDesc& desc);
  // The trace is told what an update came to.
  void trace_update_report(const UpdateReport& report);
  // An executable that an update makes from now on is told of in the trace as one of this graph.
  void set_traced_as(std::uint32_t trace_id) noexcept { traced_as_ = trace_id; }
  // --- Tuning: graph_tuning.cpp; see <reprise/tuning.hpp> ---
  [[nodiscard]] TuneReport tune(const std::shared_ptr<QueueCore>& queue, const TuneDesc& desc);
  // What the graph was tuned to, or compiled with; empty: neither.
  [[nodiscard]] std::optional<LoweringConfig> tuned();
  void set_tuned(LoweringConfig choice);
  // The plan as it is now, whoever updates meanwhile.
  [[nodiscard]] std::shared_ptr<const Plan> current_plan() const;

  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] const std::shared_ptr<CapturePool>& pool() const noexcept { return pool_; }
  // These, and what follows of the body, while nobody updates the graph.
  [[nodiscard]] const Plan& plan() const noexcept { return *body_->plan; }
  [[nodiscard]] BackendExec& exec() const noexcept { return *body_->exec; }
  [[nodiscard]] const CompileReport& report() const noexcept { return report_; }
  [[nodiscard]] std::vector<LoopReport> loops();
  [[nodiscard]] std::uint64_t replays() const noexcept {
    return replays_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_uploaded() const noexcept {
    return uploaded_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t trace_id() const noexcept {
    return body_->trace_id;
  }  // means something only with a trace
  [[nodiscard]] ReplayLog* log() const noexcept {
    return body_->log.get();
  }  // null without a trace
  // True where its launches are tracked by a buffer.
  [[nodiscard]] bool is_shared() const noexcept { return shared_.load(std::memory_order_acquire); }
  // The last launch or upload; an empty queue where there was none.
  [[nodiscard]] QueuePoint last() const;
  [[nodiscard]] bool is_pending() const noexcept override;
  void rethrow_callback_error(std::uint64_t replay) const;

  // Under order(): from now on launches are tracked by `buffer`, those so far included. Call
  // buffer.prepare() before.
  void track(PoolBuffer& buffer, Access access) noexcept;

 private:
  // A persistent buffer, with all that the graph's commands do to it.
  struct Use {
    std::shared_ptr<PoolBuffer> buffer;
    Access access;
    std::uint32_t index = kNone;  // in recording.buffers, as recorded; kNone: of a shared slab
  };
  // A scalar slot that somebody asked for.
  struct Scalar {
    std::string name;
    std::uint32_t bytes;
    std::uint32_t slot;  // of the plan; kNone: it has none of this name and size any more
  };
  // Buffers that an update brings in, attached for as long as it may still be called off.
  class BufferAttachTransaction;
  [[nodiscard]] std::vector<Use> uses_of(const Recording& recording,
                                         const TransientMemory& memory) const;
  void collect_uses();
  void require_updatable(std::string_view verb) const;
  [[nodiscard]] std::vector<Use> checked_bindings(std::span<const BufferBinding> bindings,
                                                  std::vector<std::byte*>& addresses);
  // These under mutex_.
  [[nodiscard]] UpdateReport update_in_place(const std::shared_ptr<const Plan>& plan,
                                             const Bindings& bindings, const UpdateDesc& desc,
                                             std::shared_ptr<const void>& replaced);
  // `memory`: of the transients from then on; null: where they are.
  void reinstantiate(std::shared_ptr<const Plan> plan, Bindings bindings, TransientMemory* memory);
  // Whoever looks at addresses of transients has pages behind them. Throws SlabExhausted,
  // OutOfMemory.
  void take_pages();  // under mutex_
  // While it lives the slab has its pages.
  class ResidencyPin {
   public:
    explicit ResidencyPin(GraphCore& graph);
    ResidencyPin(const ResidencyPin&) = delete;
    ResidencyPin& operator=(const ResidencyPin&) = delete;
    ~ResidencyPin();

   private:
    GraphCore& graph_;
  };
  void say_memory(std::string_view id, std::string_view did) const;  // under mutex_
  static void trim_shared(PoolBuffer& shared, PoolSlab& slab, TrimReport& report);
  // Under order(), as one of those that share a slab.
  [[nodiscard]] bool may_be_trimmed() const;
  enum class Says : std::uint8_t { No, Yes };
  void note_trimmed(Says says);
  void find_new_uses(const std::vector<Use>& wanted, std::vector<Use>& added,
                     std::vector<Use>& gone) const;  // under order()
  class Tuning;
  void launch_uncounted(const std::shared_ptr<QueueCore>& queue,
                        BackendExec& exec);  // ordered as a replay of the graph is, and none of it
  [[nodiscard]] Bindings bindings_of(const Plan& plan, std::byte* transients) const;
  [[nodiscard]] std::unique_ptr<GraphExecutable> make_candidate(std::shared_ptr<const Plan> plan);
  void sync_bindings(GraphExecutable& body);  // under mutex_
  void replace_executable(std::unique_ptr<GraphExecutable> next);
  void take_tuned(const std::shared_ptr<QueueCore>& queue, const std::shared_ptr<const Plan>& plan,
                  TuneReport& report);
  [[nodiscard]] std::uint64_t start_replay(QueueCore& queue,
                                           GraphExecutable& body);  // under mutex_; the serial
  void attach();
  void require_launchable(const QueueCore& queue, Stage stage) const;
  void share_all();                                 // under order()
  void wait_for_previous_launch(QueueCore& queue);  // under mutex_
  void wait_for_hazards(QueueCore& queue);          // under order() and mutex_
  void record_accesses() noexcept;                  // under order() and mutex_
  // Runs `submission`, ordered after what it conflicts with; `submission` returns its serial.
  template <class Submission>
  void submit(const std::shared_ptr<QueueCore>& queue, Stage stage, Submission&& submission);
  [[noreturn]] void rethrow_with_names(const Error& error, const QueueCore& queue,
                                       Stage stage) const;

  std::unique_ptr<GraphExecutable> body_;
  const ReplicaIndex instance_;
  std::unique_ptr<GraphReplicas> replicas_;
  std::uint32_t traced_as_;
  const std::shared_ptr<DeviceCore> device_;
  const std::shared_ptr<CapturePool> pool_;
  const std::string label_;
  std::mutex updating_;  // one update at a time, but for scalars; taken before all other locks
  std::optional<LoweringConfig> tuned_;  // under updating_
  std::vector<Scalar> scalars_;          // under mutex_
  std::vector<std::unique_ptr<GraphExecutable>>
      replaced_executables_;  // under mutex_: replaced, and asked for what their host callbacks
                              // threw
  CompileReport report_;
  std::vector<Use> uses_;
  std::vector<std::shared_ptr<PoolCore>> pools_;  // each once
  std::uint32_t generation_;
  std::atomic<bool> shared_{false}, all_shared_{false}, uploaded_{false}, trimmed_{false};
  std::uint32_t pages_kept_ = 0;  // under mutex_: by so many, whatever trim() is asked
  std::atomic<std::uint64_t> replays_{0};
  mutable std::mutex mutex_;  // of body_->exec and body_->last
};

}  // namespace reprise::detail
