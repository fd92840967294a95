#include <exception>
#include <optional>

#include <reprise/queue.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/queue/launched_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

void LaunchedGraph::add(const CallbackErrorSource& source) {
  const std::lock_guard lock(*asking);
  sources_.push_back(&source);
}

void LaunchedGraph::remove(const CallbackErrorSource& source, const std::vector<Thrown>& thrown) {
  const std::lock_guard lock(*asking);
  std::erase(sources_, &source);
  thrown_.insert(thrown_.end(), thrown.begin(), thrown.end());
}

std::exception_ptr LaunchedGraph::callback_error(std::uint64_t replay) const {
  const std::lock_guard lock(*asking);
  for (const Thrown& thrown : thrown_) {
    if (thrown.replay == replay) return thrown.error;
  }
  for (auto source = sources_.rbegin(); source != sources_.rend(); ++source) {
    if ((*source)->is_reached_by(replay)) return (*source)->callback_error(replay);
  }
  return nullptr;
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

namespace {

// A longer timeout would overflow the clocks below and counts as no timeout.
constexpr std::chrono::nanoseconds kMaxTimeout = std::chrono::hours(24 * 365);

[[noreturn]] void rethrow_with_names(const Error& error, const detail::QueueCore& queue,
                                     const detail::LaunchedGraph* graph, std::uint64_t replay) {
  if (graph == nullptr)
    throw detail::with_context(error, queue.label(), detail::concat("on queue ", queue.label()));
  const auto replays = graph->replays.lock();
  throw detail::with_context(replays ? replays->add_unfinished(error) : error, graph->label,
                             detail::concat("in replay ", replay, " of graph ", graph->label,
                                            " on queue ", queue.label()));
}

void rethrow_callback_error(const detail::LaunchedGraph* graph, std::uint64_t replay) {
  if (graph == nullptr) return;
  if (graph->has_collectives.load(std::memory_order_relaxed)) {
    if (const auto replays = graph->replays.lock()) replays->require_all_ranks();
  }
  if (const std::exception_ptr thrown = graph->callback_error(replay))
    std::rethrow_exception(thrown);
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
  rethrow_callback_error(graph_.get(), replay_);
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
      const auto replays = graph_ ? graph_->replays.lock() : nullptr;
      if (replays && timeout > std::chrono::nanoseconds::zero())
        replays->report_timeout(replay_, timeout, queue_->label());
      return false;
    }
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
  rethrow_callback_error(graph_.get(), replay_);
  return true;
}

std::uint32_t Fence::replica() const noexcept { return graph_ ? graph_->replica : 0; }

Queue Fence::queue() const { return queue_ ? Queue(queue_->handle()) : Queue(); }

bool Fence::done() const {
  if (!queue_) return true;
  detail::require_outside_callback("Fence", "done", Stage::Wait, queue_->label());
  try {
    return queue_->backend().done(serial_);
  } catch (const Error& error) {
    rethrow_with_names(error, *queue_, graph_.get(), replay_);
  }
}

}  // namespace reprise::inline REPRISE_ABI
