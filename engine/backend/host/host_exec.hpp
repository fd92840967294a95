// HostExec: an executable graph of the host device. A replay runs its nodes in order on one thread, which is fastest where nodes
// are short, or on all threads of the queue's crew, where it has seen that they are long.
// Threads: as BackendExec says; one replay at a time runs.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "backend/host/host_program.hpp"
#include "backend/host/lifeline.hpp"
#include "backend/host/parallel_replay.hpp"

namespace reprise::detail {

class QueueRegistry;

enum class ReplayMode : std::uint8_t { Measured, InOrder, Parallel };

class HostExec final : public BackendExec {
 public:
  HostExec(std::shared_ptr<const Plan> plan, const Bindings& bindings, const Lifeline& lifeline, std::shared_ptr<QueueRegistry> queues,
           ReplayMode mode = ReplayMode::Measured);
  ~HostExec() override;  // where the device was lost, waits for the node that still runs

  void upload(BackendQueue& queue) override;
  [[nodiscard]] std::uint64_t launch(BackendQueue& queue) override;
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) const override { return errors_.of(replay); }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished_nodes() const override {
    return marks_ ? marks_->unfinished() : std::vector<UnfinishedNode>();
  }
  [[nodiscard]] bool observe(ReplayObserver& observer) override {
    observer_ = &observer;
    return true;
  }

  // For queues. A program with callbacks runs on a thread of the device, never on one that waits for it.
  [[nodiscard]] bool has_callbacks() const noexcept { return program_.has_callbacks(); }
  // Stops between two nodes once the device is lost.
  void run(Crew& crew, std::uint64_t replay) noexcept;

 private:
  void run_nodes(Crew& crew, std::uint64_t replay, NodeTime* times) noexcept;
  void run_in_order(Crew& crew, std::uint64_t replay, NodeTime* times) noexcept;
  void run_measured(Crew& crew, std::uint64_t replay, NodeTime* times) noexcept;

  Lifeline lifeline_;
  std::shared_ptr<QueueRegistry> queues_;
  std::unique_ptr<FaultMarks> marks_;  // null: the plan has none
  HostProgram program_;
  CallbackErrors errors_;
  ParallelReplay parallel_;
  ReplayMode mode_;
  ReplayObserver* observer_ = nullptr;
  bool use_parallel_ = false;        // what the last measured replay decided
  std::uint32_t measured_ = 0;       // replays
  std::uint64_t launches_ = 0;
};

}  // namespace reprise::detail
