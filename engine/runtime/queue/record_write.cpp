// BufferView::record_write and last_write_stream: work on a buffer that the engine did not launch.
#include <mutex>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
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
  static_cast<void>(detail::require_handle(detail::core_of(view), "buffer", call, Stage::Launch));
  auto buffer = PoolBuffer::of(detail::core_of(view));
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

void BufferView::record_write(const Fence& fence) {
  const auto buffer = persistent(*this, "record_write");
  if (const Queue queue = fence.queue())
    note_write(*buffer, detail::core_of(queue), fence.serial());
}

void BufferView::record_write(const Queue& queue) {
  const auto buffer = persistent(*this, "record_write");
  detail::require_handle(detail::core_of(queue), "Queue", "record_write", Stage::Launch)
      .require_current(Stage::Launch);
  note_write(*buffer, detail::core_of(queue), detail::core_of(queue)->backend().mark());
}

Queue BufferView::last_write_stream() const {
  const auto buffer = persistent(*this, "last_write_stream");
  std::lock_guard order(buffer->pool()->device()->order());
  if (!buffer->is_shared()) {
    for (const PoolBuffer::Use& use : buffer->uses()) {
      if (!writes(use.access)) continue;
      if (auto last = use.graph->last(); last.queue)
        return detail::make_handle<Queue>(std::move(last.queue));
    }
  }
  return detail::make_handle<Queue>(buffer->usage().last_writer());
}

}  // namespace reprise
