// Accesses to buffers outside replays: BufferView::record_write, BufferView::last_write_stream and
// DeviceScalar::set.
#include <mutex>

#include <reprise/device_scalar.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/memory/pool_user.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

using detail::concat;
using detail::PoolBuffer;

void require_current(const PoolBuffer& buffer, std::string_view call) {
  if (!buffer.is_stale()) return;
  detail::fail(ErrorCode::StaleHandle, Stage::Launch, buffer.name,
               concat(call, " of ", display_name(buffer), ", which is stale: ", why_stale(buffer)));
}

// The buffer, which is neither a transient nor stale.
std::shared_ptr<PoolBuffer> persistent(const BufferView& view, std::string_view call) {
  const detail::BufferCore& core =
      detail::require_handle(detail::core_of(view), "buffer", call, Stage::Launch);
  auto buffer = PoolBuffer::of(detail::core_of(view));
  if (!buffer || !buffer->is_persistent()) {
    detail::fail(ErrorCode::Unsupported, Stage::Launch, core.name,
                 concat(call, " of ", display_name(core), ", a ",
                        core.kind == BufferKind::Condition ? "condition" : "transient",
                        ": nothing outside a replay can use it"));
  }
  require_current(*buffer, call);
  return buffer;
}

void add_write(PoolBuffer& buffer, const std::shared_ptr<detail::QueueCore>& queue,
               std::uint64_t serial) {
  if (queue->device() != buffer.pool()->device()) {
    detail::fail(ErrorCode::WrongDevice, Stage::Launch, buffer.name,
                 concat("record_write of ", display_name(buffer), " on ", buffer.device->selector,
                        " by queue ", queue->label(), " of ",
                        name_beside(*queue->device()->status(), *buffer.device)));
  }
  queue->require_current(Stage::Launch);
  std::lock_guard order(buffer.pool()->device()->order());
  require_current(buffer, "record_write");  // its pool may have been cleared meanwhile
  buffer.prepare();
  buffer.share();
  buffer.usage().add({queue->without_handle(), serial, Access::Write});
}

}  // namespace

void BufferView::record_write(const Fence& fence) {
  detail::require_outside_callback("BufferView", "record_write", Stage::Launch, name());
  const auto buffer = persistent(*this, "record_write");
  if (const Queue queue = fence.queue()) add_write(*buffer, detail::core_of(queue), fence.serial());
}

void BufferView::record_write(const Queue& queue) {
  detail::require_outside_callback("BufferView", "record_write", Stage::Launch, name());
  const auto buffer = persistent(*this, "record_write");
  detail::require_handle(detail::core_of(queue), "Queue", "record_write", Stage::Launch)
      .require_usable(Stage::Launch);
  add_write(*buffer, detail::core_of(queue), detail::core_of(queue)->backend().mark());
}

Queue BufferView::last_write_stream() const {
  const auto buffer = persistent(*this, "last_write_stream");
  std::lock_guard order(buffer->pool()->device()->order());
  if (!buffer->is_shared()) {
    for (const PoolBuffer::Use& use : buffer->uses()) {
      if (!writes(use.access)) continue;
      if (auto last = use.user->last(); last.queue)
        return detail::make_handle<Queue>(last.queue->handle());
    }
  }
  const auto& writer = buffer->usage().last_writer();
  return writer ? detail::make_handle<Queue>(writer->handle()) : Queue();
}

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

void write_scalar(const BufferView& scalar, const Queue& queue, std::span<const std::byte> bytes) {
  static_cast<void>(require_handle(core_of(scalar), "DeviceScalar", "set", Stage::Launch));
  const auto buffer = persistent(scalar, "set");
  const std::string name = display_name(*buffer);
  require_outside_callback("DeviceScalar", "set", Stage::Launch, name);
  if (buffer->kind != BufferKind::Device) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, buffer->name,
         concat("set of ", name, ", which is pinned host memory; assign its value on the host"));
  }
  if (!queue) fail_empty("Queue", concat("set of ", name), Stage::Launch, buffer->name);
  if (core_of(queue)->device() != buffer->pool()->device()) {
    fail(ErrorCode::WrongDevice, Stage::Launch, buffer->name,
         concat("set of ", name, " on ", buffer->device->selector, " by queue ",
                core_of(queue)->label(), " of ",
                name_beside(*core_of(queue)->device()->status(), *buffer->device)));
  }
  core_of(queue)->require_usable(Stage::Launch);
  std::lock_guard order(buffer->pool()->device()->order());
  require_current(*buffer, "set");
  if (!buffer->is_shared()) {
    buffer->prepare();
    buffer->share();
  }
  buffer->wait_for_conflicts(*core_of(queue), Access::Write);
  const std::uint64_t serial =
      core_of(queue)->backend().write(buffer->address + scalar.offset(), bytes);
  buffer->record({core_of(queue)->without_handle(), serial, Access::Write});
}

}  // namespace reprise::detail
