#include <exception>
#include <optional>

#include <reprise/queue.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/queue/launched_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise {

namespace {

// A longer timeout would overflow the clocks below and counts as no timeout.
constexpr std::chrono::nanoseconds kMaxTimeout = std::chrono::hours(24 * 365);

[[noreturn]] void rethrow_with_names(const Error& error, const detail::QueueCore& queue,
                                     const detail::LaunchedGraph* graph, std::uint64_t replay) {
  if (graph == nullptr)
    throw detail::with_context(error, queue.label(), detail::concat("on queue ", queue.label()));
  throw detail::with_context(graph->add_unfinished(error), graph->label(),
                             detail::concat("in replay ", replay, " of graph ", graph->label(),
                                            " on queue ", queue.label()));
}

}  // namespace

void Fence::wait() const {
  if (!queue_) return;
  detail::require_outside_callback("Fence", "wait", Stage::Wait, queue_->label());
  try {
    (void)queue_->backend().wait(serial_, std::nullopt);
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
  if (graph_) graph_->rethrow_callback_error(replay_);
}

bool Fence::wait_for(std::chrono::nanoseconds timeout) const {
  if (!queue_) return true;
  detail::require_outside_callback("Fence", "wait_for", Stage::Wait, queue_->label());
  if (timeout > kMaxTimeout) {
    wait();
    return true;
  }
  try {
    if (!queue_->backend().wait(serial_, std::max(timeout, std::chrono::nanoseconds::zero()))) {
      if (graph_ && timeout > std::chrono::nanoseconds::zero())
        graph_->report_timeout(replay_, timeout, queue_->label());
      return false;
    }
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
  if (graph_) graph_->rethrow_callback_error(replay_);
  return true;
}

std::uint32_t Fence::replica() const noexcept { return graph_ ? graph_->replica() : 0; }

bool Fence::done() const {
  if (!queue_) return true;
  detail::require_outside_callback("Fence", "done", Stage::Wait, queue_->label());
  try {
    return queue_->backend().done(serial_);
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
}

}  // namespace reprise
