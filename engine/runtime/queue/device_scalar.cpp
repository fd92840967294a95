// DeviceScalar::set: a write to a buffer in the order of a queue.
#include <reprise/device_scalar.hpp>

#include <mutex>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

void write_scalar(const BufferView& scalar, const Queue& queue, std::span<const std::byte> bytes) {
  const auto buffer = PoolBuffer::of(scalar.core());
  if (!buffer)
    fail(ErrorCode::InvalidState, Stage::Launch, "",
         "set of an empty DeviceScalar; make one in a pool, on a queue");
  const std::string name = display_name(*buffer);
  if (!queue)
    fail(ErrorCode::InvalidArgument, Stage::Launch, buffer->name,
         concat("set of ", name, " on an empty Queue"));
  if (queue.core()->device() != buffer->pool()->device()) {
    fail(ErrorCode::WrongDevice, Stage::Launch, buffer->name,
         concat("set of ", name, " on ", buffer->device->selector, " by queue ",
                queue.core()->label(), " of ", queue.core()->device()->status()->selector));
  }
  if (buffer->is_stale())
    fail(ErrorCode::StaleHandle, Stage::Launch, buffer->name,
         concat("set of ", name, ", which is stale"));
  queue.core()->require_current(Stage::Launch);
  std::lock_guard order(buffer->pool()->device()->order());
  if (!buffer->is_shared()) {
    buffer->prepare();
    buffer->share();
  }
  buffer->usage().reserve(1);
  buffer->usage().follow(*queue.core(), Access::Write);
  const std::uint64_t serial =
      queue.core()->backend().write(buffer->address + scalar.offset(), bytes);
  buffer->usage().replace({queue.core(), serial, Access::Write});
}

}  // namespace reprise::detail
