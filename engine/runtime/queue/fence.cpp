#include <reprise/queue.hpp>

#include <exception>
#include <optional>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/graph/device_lost_details.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise {

namespace {

// Longer limits are none: they would leave the range of the clocks below.
constexpr std::chrono::nanoseconds kLongestLimit = std::chrono::hours(24 * 365);

[[noreturn]] void rethrow_with_names(const Error& error, const detail::QueueCore& queue,
                                     const detail::GraphCore* graph, std::uint64_t replay) {
  if (graph == nullptr)
    throw detail::with_context(error, queue.label(), detail::concat("on queue ", queue.label()));
  throw detail::with_context(detail::add_unfinished(error, *graph), graph->label(),
                             detail::concat("in replay ", replay, " of graph ", graph->label(),
                                            " on queue ", queue.label()));
}

}  // namespace

void Fence::wait() const {
  if (!queue_) return;
  try {
    (void)queue_->backend().wait(serial_, std::nullopt);
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
  if (graph_) graph_->rethrow_callback_error(replay_);
}

bool Fence::wait_for(std::chrono::nanoseconds timeout) const {
  if (!queue_) return true;
  if (timeout > kLongestLimit) {
    wait();
    return true;
  }
  try {
    if (!queue_->backend().wait(serial_, std::max(timeout, std::chrono::nanoseconds::zero())))
      return false;
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
  if (graph_) graph_->rethrow_callback_error(replay_);
  return true;
}

std::uint32_t Fence::replica() const noexcept { return graph_ ? graph_->instance().number : 0; }

bool Fence::done() const {
  if (!queue_) return true;
  try {
    return queue_->backend().done(serial_);
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
}

}  // namespace reprise
