#include "runtime/graph/graph_executable.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

std::unique_ptr<GraphExecutable> GraphExecutable::instantiate(ExecutableSpec spec,
                                                              TransientMemory memory,
                                                              Bindings bindings) {
  BindingState state(spec.plan, std::move(bindings));
  auto exec = spec.device->backend().instantiate(spec.plan, state.current(),
                                                 spec.device->instrumentation());
  return std::make_unique<GraphExecutable>(std::move(spec), std::move(memory), std::move(state),
                                           std::move(exec));
}

GraphExecutable::GraphExecutable(ExecutableSpec spec, TransientMemory transients,
                                 BindingState state,
                                 std::unique_ptr<BackendExec> backend_exec) noexcept
    : spec_(std::move(spec)),
      memory(std::move(transients)),
      bindings(std::move(state)),
      exec(std::move(backend_exec)) {}

void GraphExecutable::tell_errors_to(const std::shared_ptr<LaunchedGraph>& launched) {
  launched->add(*this);
  launched_ = launched;
  asking_ = launched->asking;
}

void GraphExecutable::leave_errors(LaunchedGraph& launched) noexcept {
  std::vector<LaunchedGraph::Thrown> thrown;
  try {
    std::uint64_t nth = std::max(replays_until, kKeptReplays + replays_before) - kKeptReplays;
    while (++nth <= replays_until) {
      const std::uint64_t replay = spec_.replica.replay_of(nth);
      if (std::exception_ptr error = callback_error(replay))
        thrown.push_back({replay, std::move(error)});
    }
    launched.remove(*this, thrown);
  } catch (...) {
    launched.remove(*this, {});  // there is no memory for more
  }
}

GraphExecutable::~GraphExecutable() {
  if (const auto launched = launched_.lock()) {
    leave_errors(*launched);
  } else if (asking_) {
    const std::lock_guard after_the_last_question(*asking_);
  }
  if (CallbackErrors::any_unseen()) {
    try {
      if (const auto message = unseen_errors_message(plan()->label, exec->take_unseen_errors()))
        spec_.device->instance().report(*message);
    } catch (...) {
      // There is no memory for the message.
    }
  }
  exec.reset();
  if (log) log->close();
}

DeferredDelete::Pending GraphExecutable::pending() const noexcept {
  if (is_complete(last)) return {};
  return {last.queue->shared_backend(), last.serial};
}

std::shared_ptr<const Plan> GraphExecutable::set_plan(ExecutableSpec next,
                                                      BindingState state) noexcept {
  bindings = std::move(state);
  spec_.options = std::move(next.options);
  spec_.collectives = std::move(next.collectives);
  return std::exchange(spec_.plan, std::move(next.plan));
}

}  // namespace reprise::detail
