// GraphExecutable: one backend executable and everything that its launches use, which therefore
// outlives them. A GraphReplica owns it, then the deferred deletion queue.
// Threads: the replica's mutex guards it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include <reprise/message.hpp>

#include "backend/backend.hpp"
#include "profile/graph_versions.hpp"
#include "profile/replay_log.hpp"
#include "runtime/core/deferred_deletion_queue.hpp"
#include "runtime/graph/binding_state.hpp"
#include "runtime/graph/executable_spec.hpp"
#include "runtime/graph/trace_graph.hpp"
#include "runtime/memory/transient_memory.hpp"
#include "runtime/queue/launched_graph.hpp"
#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

// A graph in the trace; all executables of the graph share it. Meaningless without a trace.
struct TraceIdentity {
  std::uint32_t graph = 0;
  GraphVersions versions;  // that the trace contains
};

// Host times of a compile, for the trace; 0 without one.
struct CompileTimes {
  trace::Time compiled = 0, compile_time = 0, instantiate_time = 0;
};

// The warning about exceptions of host callbacks of `graph` that no fence has rethrown; empty if
// there are none.
[[nodiscard]] std::optional<Message> unseen_errors_message(std::string_view graph,
                                                           const CallbackErrors::Unseen& unseen);

class GraphExecutable final : public DeferredDelete, public CallbackErrorSource {
 public:
  // Instantiates spec.plan with `bindings`. Throws OutOfMemory, DeviceLost and what the backend
  // refuses.
  [[nodiscard]] static std::unique_ptr<GraphExecutable> instantiate(ExecutableSpec spec,
                                                                    TransientMemory memory,
                                                                    Bindings bindings);
  // Owns `backend_exec`, which was made for spec.plan.
  GraphExecutable(ExecutableSpec spec, TransientMemory memory, BindingState bindings,
                  std::unique_ptr<BackendExec> backend_exec) noexcept;
  // Leaves the exceptions of its last kKeptReplays replays to the fences of the graph. Reports
  // exceptions that nobody can see any more.
  ~GraphExecutable() override;
  static constexpr std::uint64_t kKeptReplays = 4096;
  [[nodiscard]] Pending pending() const noexcept override;

  // Call before the first replay, with replays_before set.
  void tell_errors_to(const std::shared_ptr<LaunchedGraph>& launched);
  [[nodiscard]] bool is_reached_by(std::uint64_t replay) const noexcept override {
    return spec_.replica.nth_of(replay) > replays_before;
  }
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) const override {
    return exec->callback_error(spec_.replica.nth_of(replay) - replays_before);
  }

  [[nodiscard]] const ExecutableSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const std::shared_ptr<const Plan>& plan() const noexcept { return spec_.plan; }
  // After an update in place to `next`, of the same replica. Returns the plan before.
  std::shared_ptr<const Plan> set_plan(ExecutableSpec next, BindingState state) noexcept;

 private:
  void leave_errors(LaunchedGraph& launched) noexcept;

  ExecutableSpec spec_;
  std::weak_ptr<LaunchedGraph> launched_;  // null: no fence can ask for exceptions
  std::shared_ptr<std::mutex> asking_;     // of launched_

 public:
  // The last launch or upload. Later ones wait for it, so it covers all earlier ones.
  QueuePoint last;
  TransientMemory memory;
  BindingState bindings;
  std::uint64_t replays_before = 0;  // of the replica, by earlier executables
  std::uint64_t replays_until = 0;   // and by this one, once it is replaced or dropped
  CompileTimes times;
  TraceIdentity trace;
  std::shared_ptr<ReplayLog> log;      // null without a trace
  std::unique_ptr<RankClocks> clocks;  // null without a trace or without collectives
  std::unique_ptr<BackendExec> exec;
};

}  // namespace reprise::detail
