#include "runtime/graph/graph_executable.hpp"

#include <utility>

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

GraphExecutable::~GraphExecutable() {
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

std::shared_ptr<const Plan> GraphExecutable::set_plan(std::shared_ptr<const Plan> plan,
                                                      BindingState state) noexcept {
  bindings = std::move(state);
  return std::exchange(spec_.plan, std::move(plan));
}

}  // namespace reprise::detail
