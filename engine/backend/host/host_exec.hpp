// HostExec: an executable graph of the host device. A replay runs its nodes in order on one thread,
// which is fastest for short nodes, or on all threads of the queue's arena, if measurements show
// long nodes. Segments run on all threads. Threads: as BackendExec; one replay at a time runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/device_generation.hpp"
#include "backend/host/host_program.hpp"
#include "backend/host/parallel_replay.hpp"

namespace reprise::detail {

class QueueRegistry;

enum class ReplayMode : std::uint8_t { Measured, InOrder, Parallel };

class HostExec final : public BackendExec {
 public:
  HostExec(std::shared_ptr<const Plan> plan, const Bindings& bindings,
           const DeviceGeneration& generation, std::shared_ptr<QueueRegistry> queues,
           ReplayMode mode = ReplayMode::Measured);
  ~HostExec() override;  // after a device loss, waits for the running node

  void upload(BackendQueue& queue) override;
  [[nodiscard]] std::uint64_t launch(BackendQueue& queue) override;
  [[nodiscard]] ExecUpdate change(const BindingChange& change) override;
  [[nodiscard]] ExecUpdate change(const PlanChange& change) override;
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) override {
    return errors_.of(replay);
  }
  [[nodiscard]] CallbackErrors::Unseen take_unseen_errors() override {
    return errors_.take_unseen();
  }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished_nodes() const override {
    return marks_ ? marks_->unfinished() : std::vector<UnfinishedNode>();
  }
  [[nodiscard]] std::vector<LoopCount> loop_counts() override {
    return latest_->program.loop_counts();
  }
  [[nodiscard]] bool observe(ReplayObserver& observer) override {
    timing_ = latest_->program.timing();
    observer_ = &observer;
    return true;
  }

  // For queues: a program with callbacks runs on a device thread, never on a waiting thread.
  [[nodiscard]] bool has_callbacks() const noexcept {
    return has_callbacks_.load(std::memory_order_relaxed);
  }
  // Stops between two nodes if the device is lost.
  void run(WorkerArena& workers, std::uint64_t replay) noexcept;

 private:
  // A program with its executors.
  struct Loaded {
    Loaded(std::shared_ptr<const Plan> plan, const Bindings& bindings,
           const DeviceGeneration& generation, FaultMarks* marks, CallbackErrors& errors)
        : program(std::move(plan), bindings, generation, marks),
          parallel(program, generation, errors) {}
    HostProgram program;
    ParallelReplay parallel;
  };
  // A change that applies from one replay on.
  struct Change {
    std::uint64_t replay = 0;
    std::vector<HostProgram::RebuiltNode> rebuilt = {};
    std::vector<std::uint32_t> toggled = {};  // nodes to enable or disable
    std::uint8_t disabled = 0;
    std::shared_ptr<Loaded> program = {};  // null: unchanged
  };
  void add_change(Change change);
  void apply_changes(std::uint64_t replay) noexcept;
  void run_nodes(WorkerArena& workers, std::uint64_t replay, NodeTime* times) noexcept;
  void run_in_order(WorkerArena& workers, std::uint64_t replay, NodeTime* times) noexcept;
  void run_measured(WorkerArena& workers, std::uint64_t replay, NodeTime* times) noexcept;

  DeviceGeneration generation_;
  std::shared_ptr<QueueRegistry> queues_;
  std::unique_ptr<FaultMarks> marks_;  // null: the plan has none
  CallbackErrors errors_;
  std::shared_ptr<Loaded> loaded_;  // used by the thread that runs replays
  ReplayMode mode_;
  ReplayObserver* observer_ = nullptr;
  TimingLayout timing_;         // known to the observer
  bool use_parallel_ = false;   // decision of the last measured replay
  std::uint32_t measured_ = 0;  // replays
  // Used by the thread that launches and changes: the state of the next launch.
  std::uint64_t launches_ = 0;
  std::shared_ptr<const Plan> plan_;
  Bindings bindings_;
  std::shared_ptr<Loaded> latest_;
  std::atomic<bool> has_callbacks_;
  // Changes queued for their replays, in order.
  std::atomic<std::uint32_t> pending_changes_{0};
  std::mutex changes_mutex_;
  std::list<Change> changes_;
};

}  // namespace reprise::detail
