#include "run/graph_body.hpp"

#include <utility>

#include "run/device_core.hpp"
#include "run/pool_buffer.hpp"
#include "run/queue_core.hpp"

namespace reprise::detail {

GraphBody::GraphBody(std::shared_ptr<DeviceCore> owner) noexcept : device(std::move(owner)) {}

GraphBody::~GraphBody() {
  exec.reset();
  if (log) log->close();
}

Retired::Pending GraphBody::pending() const noexcept {
  if (is_over(last)) return {};
  return {last.queue->shared_backend(), last.serial};
}

}  // namespace reprise::detail
