// Accesses to buffers outside replays: BufferView::record_write, BufferView::last_write_stream and
// DeviceScalar::set.
#include <mutex>

#include <reprise/device_scalar.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/memory/pool_user.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise {

namespace {

using detail::concat;
using detail::PoolBuffer;

std::shared_ptr<PoolBuffer> persistent(const BufferView& view, std::string_view call) {
  auto buffer = PoolBuffer::of(view.core());
  if (!buffer) {
    detail::fail(
        ErrorCode::InvalidArgument, Stage::Launch, "",
        concat(call, " of a view without a buffer; take one from CapturePool::allocate or host"));
  }
  if (!buffer->is_persistent()) {
    detail::fail(ErrorCode::Unsupported, Stage::Launch, buffer->name,
                 concat(call, " of ", display_name(*buffer),
                        ", a transient: nothing outside a replay can use it"));
  }
  return buffer;
}

void add_write(PoolBuffer& buffer, const std::shared_ptr<detail::QueueCore>& queue,
               std::uint64_t serial) {
  if (buffer.is_stale()) {
    detail::fail(
        ErrorCode::StaleHandle, Stage::Launch, buffer.name,
        concat("record_write of ", display_name(buffer), ", which is stale: ", why_stale(buffer)));
  }
  if (queue->device() != buffer.pool()->device()) {
    detail::fail(ErrorCode::WrongDevice, Stage::Launch, buffer.name,
                 concat("record_write of ", display_name(buffer), " on ", buffer.device->selector,
                        " by queue ", queue->label(), " of ", queue->device()->status()->selector));
  }
  queue->require_current(Stage::Launch);
  std::lock_guard order(buffer.pool()->device()->order());
  buffer.prepare();
  buffer.share();
  buffer.usage().add({queue, serial, Access::Write});
}

}  // namespace

void BufferView::record_write(const Fence& fence) const {
  const auto buffer = persistent(*this, "record_write");
  if (const Queue queue = fence.queue()) add_write(*buffer, queue.core(), fence.serial());
}

void BufferView::record_write(const Queue& queue) const {
  const auto buffer = persistent(*this, "record_write");
  if (!queue)
    detail::fail(ErrorCode::InvalidArgument, Stage::Launch, buffer->name,
                 "record_write by an empty Queue");
  queue.core()->require_current(Stage::Launch);
  add_write(*buffer, queue.core(), queue.core()->backend().mark());
}

Queue BufferView::last_write_stream() const {
  const auto buffer = persistent(*this, "last_write_stream");
  std::lock_guard order(buffer->pool()->device()->order());
  if (!buffer->is_shared()) {
    for (const PoolBuffer::Use& use : buffer->uses()) {
      if (!writes(use.access)) continue;
      if (auto last = use.user->last(); last.queue) return Queue(std::move(last.queue));
    }
  }
  return Queue(buffer->usage().last_writer());
}

}  // namespace reprise

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
  buffer->usage().wait_for_conflicts(*queue.core(), Access::Write);
  const std::uint64_t serial =
      queue.core()->backend().write(buffer->address + scalar.offset(), bytes);
  buffer->usage().replace({queue.core(), serial, Access::Write});
}

}  // namespace reprise::detail
