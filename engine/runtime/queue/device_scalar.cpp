// DeviceScalar::set: a write to a buffer in the order of a queue.
#include <reprise/device_scalar.hpp>

#include <mutex>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

void write_scalar(const BufferView& scalar, const Queue& queue, std::span<const std::byte> bytes) {
  static_cast<void>(require_handle(core_of(scalar), "DeviceScalar", "set", Stage::Launch));
  const auto buffer = PoolBuffer::of(core_of(scalar));
  const std::string name = display_name(*buffer);
  if (!queue) fail_empty("Queue", concat("set of ", name), Stage::Launch, buffer->name);
  if (core_of(queue)->device() != buffer->pool()->device()) {
    fail(ErrorCode::WrongDevice, Stage::Launch, buffer->name,
         concat("set of ", name, " on ", buffer->device->selector, " by queue ",
                core_of(queue)->label(), " of ", core_of(queue)->device()->status()->selector));
  }
  if (buffer->is_stale())
    fail(ErrorCode::StaleHandle, Stage::Launch, buffer->name,
         concat("set of ", name, ", which is stale"));
  core_of(queue)->require_current(Stage::Launch);
  std::lock_guard order(buffer->pool()->device()->order());
  if (!buffer->is_shared()) {
    buffer->prepare();
    buffer->share();
  }
  buffer->usage().reserve(1);
  buffer->usage().follow(*core_of(queue), Access::Write);
  const std::uint64_t serial =
      core_of(queue)->backend().write(buffer->address + scalar.offset(), bytes);
  buffer->usage().replace({core_of(queue), serial, Access::Write});
}

}  // namespace reprise::detail
