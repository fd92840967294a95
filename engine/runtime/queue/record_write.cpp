// BufferView::record_write and last_write_stream: work on a buffer that the engine did not launch.
#include <mutex>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/memory/pool_core.hpp"
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

void note_write(PoolBuffer& buffer, const std::shared_ptr<detail::QueueCore>& queue,
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
  if (const Queue queue = fence.queue()) note_write(*buffer, queue.core(), fence.serial());
}

void BufferView::record_write(const Queue& queue) const {
  const auto buffer = persistent(*this, "record_write");
  if (!queue)
    detail::fail(ErrorCode::InvalidArgument, Stage::Launch, buffer->name,
                 "record_write by an empty Queue");
  queue.core()->require_current(Stage::Launch);
  note_write(*buffer, queue.core(), queue.core()->backend().mark());
}

Queue BufferView::last_write_stream() const {
  const auto buffer = persistent(*this, "last_write_stream");
  std::lock_guard order(buffer->pool()->device()->order());
  if (!buffer->is_shared()) {
    for (const PoolBuffer::Use& use : buffer->uses()) {
      if (!writes(use.access)) continue;
      if (auto last = use.graph->last(); last.queue) return Queue(std::move(last.queue));
    }
  }
  return Queue(buffer->usage().last_writer());
}

}  // namespace reprise
