#include "runtime/core/deferred_deletion_queue.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "backend/backend.hpp"
#include "base/background_thread.hpp"
#include "base/creator_process.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

// How long the thread waits for the oldest object before it checks the others.
constexpr std::chrono::milliseconds kPollInterval{10};
// Objects that may wait for the thread before limit_backlog() helps it.
constexpr std::uint64_t kMaxBacklog = 1024;
// Bounds collect_completed() while other threads keep dropping objects.
constexpr int kMaxPasses = 4;

// Counts the objects in the queues of all devices. The process exits only after it reaches zero:
// destructors must not run while the libraries below the engine are torn down. A host callback that
// ends the process cannot wait for that: objects may wait for its replay.
struct PendingCount {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t count = 0;
};
PendingCount& pending_count() {
  static PerProcess<PendingCount> all;
  return all.get();
}
struct ProcessExitGuard {
  ~ProcessExitGuard() {
    if (in_host_callback) return;
    std::unique_lock lock(pending_count().mutex);
    pending_count().changed.wait(lock, [] { return pending_count().count == 0; });
  }
};

thread_local std::uint32_t destroying = 0;  // nested destructors that a queue runs on this thread

bool wait_for(const DeferredDelete::Pending& pending,
              std::optional<std::chrono::nanoseconds> timeout) noexcept {
  try {
    return pending.queue->wait(pending.serial, timeout);
  } catch (...) {
    return true;  // a lost device runs nothing
  }
}

}  // namespace

struct DeferredDeletionQueue::State {
  // Objects removed from the list that one call of collect() destroys; on that call's stack.
  struct Batch {
    std::uint64_t number;
    Batch* next;
  };

  const CreatorProcess process;
  std::mutex mutex;
  std::condition_variable arrived, destroyed;
  std::unique_ptr<DeferredDelete> first;  // oldest
  DeferredDelete* last = nullptr;
  std::uint64_t size = 0;  // of the list
  std::uint64_t max_backlog = kMaxBacklog;
  Batch* batches = nullptr;  // in progress, newest first
  std::uint64_t started = 0;
  bool stop = false;
  std::thread thread;
};

DeferredDeletionQueue::DeferredDeletionQueue() : state_(std::make_shared<State>()) {}

DeferredDeletionQueue::~DeferredDeletionQueue() {
  std::thread thread;
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
    thread = std::move(state_->thread);
  }
  state_->arrived.notify_all();
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // it runs the destructor of this queue's last owner, then sees `stop`
  } else {
    thread.join();
  }
}

void DeferredDeletionQueue::prepare() {
  static const ProcessExitGuard guard;
  static_cast<void>(pending_count());  // push() must not allocate
  std::lock_guard lock(state_->mutex);
  if (state_->thread.joinable()) return;
  try {
    state_->thread = start_background_thread("reprise-delete", [state = state_] { run(state); });
  } catch (const std::system_error& error) {
    fail(ErrorCode::OutOfMemory, Stage::Allocate, "",
         concat("no thread could be started: ", error.what()));
  }
}

void DeferredDeletionQueue::push(std::unique_ptr<DeferredDelete> object) noexcept {
  if (!state_->process.is_current()) return keep_until_exit(object.release());
  {
    std::lock_guard lock(pending_count().mutex);
    ++pending_count().count;
  }
  // The thread may destroy the object at once, and with it the last owner of this queue.
  const auto kept = state_;
  std::lock_guard lock(kept->mutex);
  DeferredDelete* const added = object.get();
  if (kept->last == nullptr) {
    kept->first = std::move(object);
  } else {
    kept->last->next_ = std::move(object);
  }
  kept->last = added;
  ++kept->size;
  kept->arrived.notify_one();
}

bool DeferredDeletionQueue::collect(State& state) noexcept {
  std::unique_ptr<DeferredDelete> ready;
  State::Batch batch{};
  {
    std::lock_guard lock(state.mutex);
    std::unique_ptr<DeferredDelete>* tail = &ready;
    std::unique_ptr<DeferredDelete>* at = &state.first;
    state.last = nullptr;
    while (*at) {
      if ((*at)->pending().queue) {
        state.last = at->get();
        at = &(*at)->next_;
        continue;
      }
      std::unique_ptr<DeferredDelete> rest = std::move((*at)->next_);
      *tail = std::move(*at);
      tail = &(*tail)->next_;
      *at = std::move(rest);
      --state.size;
    }
    if (!ready) return false;
    batch = {++state.started, state.batches};
    state.batches = &batch;
  }
  while (ready) {
    std::unique_ptr<DeferredDelete> next = std::move(ready->next_);
    ++destroying;
    ready = std::move(next);  // destroys the previous object
    --destroying;
    std::lock_guard lock(pending_count().mutex);
    --pending_count().count;
    pending_count().changed.notify_all();
  }
  std::lock_guard lock(state.mutex);
  State::Batch** link = &state.batches;
  while (*link != &batch) link = &(*link)->next;
  *link = batch.next;
  state.destroyed.notify_all();
  return true;
}

bool DeferredDeletionQueue::wait_for_batches(State& state) noexcept {
  std::unique_lock lock(state.mutex);
  if (state.batches == nullptr) return false;
  const auto all_done = [&state, newest = state.started] {
    const State::Batch* batch = state.batches;
    while (batch != nullptr && batch->number > newest) batch = batch->next;
    return batch == nullptr;
  };
  state.destroyed.wait(lock, all_done);
  return true;
}

void DeferredDeletionQueue::run(const std::shared_ptr<State>& state) noexcept {
  for (;;) {
    collect(*state);
    DeferredDelete::Pending pending;
    {
      std::unique_lock lock(state->mutex);
      if (!state->first) {
        if (state->stop) return;
        state->arrived.wait(lock, [&] { return state->first || state->stop; });
        continue;
      }
      pending = state->first->pending();
    }
    if (pending.queue) (void)wait_for(pending, kPollInterval);
  }
}

void DeferredDeletionQueue::collect_completed() noexcept {
  const auto kept = state_;
  if (!kept->process.is_current()) return;
  for (int pass = 0; pass < kMaxPasses; ++pass) {  // destroying a graph can drop its buffers
    const bool destroyed = collect(*kept);
    const bool waited = destroying == 0 && wait_for_batches(*kept);
    if (!destroyed && !waited) return;
  }
}

void DeferredDeletionQueue::limit_backlog() noexcept {
  if (destroying != 0) return;
  const auto kept = state_;
  {
    std::lock_guard lock(kept->mutex);
    if (kept->size < kept->max_backlog) return;
  }
  collect(*kept);
  std::lock_guard lock(kept->mutex);
  kept->max_backlog = std::max(kMaxBacklog, 2 * kept->size);  // amortises the search
}

void DeferredDeletionQueue::flush() noexcept {
  if (destroying != 0) return;
  const auto kept = state_;
  std::unique_lock lock(kept->mutex);
  kept->destroyed.wait(lock, [&] { return !kept->first && kept->batches == nullptr; });
}

}  // namespace reprise::detail
