#include "runtime/graph/graph_executable.hpp"

#include <utility>

#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

GraphExecutable::GraphExecutable(std::shared_ptr<DeviceCore> owner) noexcept
    : device(std::move(owner)) {}

GraphExecutable::~GraphExecutable() {
  exec.reset();
  if (log) log->close();
}

DeferredDelete::Pending GraphExecutable::pending() const noexcept {
  if (is_complete(last)) return {};
  return {last.queue->shared_backend(), last.serial};
}

}  // namespace reprise::detail
