#include "runtime/core/deferred_deletion_queue.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "backend/backend.hpp"
#include "base/background_thread.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

// How long the thread waits for the oldest object before it checks the others.
constexpr std::chrono::milliseconds kPollInterval{10};

// Counts the objects in the queues of all devices. The process exits only after it reaches zero:
// destructors must not run while the libraries below the engine are torn down.
struct PendingCount {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t count = 0;
};
PendingCount& pending_count() {
  alignas(PendingCount) static std::byte storage[sizeof(PendingCount)];
  static PendingCount* const all =
      new (storage) PendingCount;  // never destroyed: used after main() returns
  return *all;
}
struct ProcessExitGuard {
  ~ProcessExitGuard() {
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
  std::mutex mutex;
  std::condition_variable arrived, destroyed;
  std::unique_ptr<DeferredDelete> first;  // oldest
  DeferredDelete* last = nullptr;
  std::uint64_t collected = 0;  // removed from the list, not destroyed yet
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
  kept->arrived.notify_one();
}

void DeferredDeletionQueue::collect(State& state) noexcept {
  std::unique_ptr<DeferredDelete> ready;
  std::uint64_t count = 0;
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
      ++count;
    }
    state.collected += count;
  }
  while (ready) {
    std::unique_ptr<DeferredDelete> next = std::move(ready->next_);
    ++destroying;
    ready = std::move(next);  // destroys the previous object
    --destroying;
    {
      std::lock_guard lock(state.mutex);
      --state.collected;
      state.destroyed.notify_all();
    }
    std::lock_guard lock(pending_count().mutex);
    --pending_count().count;
    pending_count().changed.notify_all();
  }
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
  collect(*kept);
}

void DeferredDeletionQueue::flush() noexcept {
  if (destroying != 0) return;
  const auto kept = state_;
  std::unique_lock lock(kept->mutex);
  kept->destroyed.wait(lock, [&] { return !kept->first && kept->collected == 0; });
}

}  // namespace reprise::detail
