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
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

// How long the thread waits for the oldest thing before it looks at the others again.
constexpr std::chrono::milliseconds kPatience{10};

// Things of all devices that are not freed yet. The process ends only after them: what frees them
// must not run while the libraries below it are being torn down.
struct Unfreed {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t count = 0;
};
Unfreed& unfreed() {
  alignas(Unfreed) static std::byte place[sizeof(Unfreed)];
  static Unfreed* const all = new (place) Unfreed;  // never destroyed: used after the end of main
  return *all;
}
struct ExitGate {
  ~ExitGate() {
    std::unique_lock lock(unfreed().mutex);
    unfreed().changed.wait(lock, [] { return unfreed().count == 0; });
  }
};

thread_local std::uint32_t freeing = 0;  // things that are being freed on this thread, nested

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
  std::condition_variable arrived, freed;
  std::unique_ptr<DeferredDelete> first;  // oldest
  DeferredDelete* last = nullptr;
  std::uint64_t in_hand = 0;  // taken off the list, not freed yet
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
    thread.detach();  // it frees the last owner of this queue, sees `stop` and ends
  } else {
    thread.join();
  }
}

void DeferredDeletionQueue::prepare() {
  static const ExitGate gate;
  std::lock_guard lock(state_->mutex);
  if (state_->thread.joinable()) return;
  try {
    state_->thread = std::thread(&DeferredDeletionQueue::run, state_);
  } catch (const std::system_error& error) {
    fail(ErrorCode::OutOfMemory, Stage::Allocate, "",
         concat("no thread could be started: ", error.what()));
  }
}

void DeferredDeletionQueue::push(std::unique_ptr<DeferredDelete> thing) noexcept {
  {
    std::lock_guard lock(unfreed().mutex);
    ++unfreed().count;
  }
  const auto kept =
      state_;  // the thread may free the thing at once, and the last owner of this queue with it
  std::lock_guard lock(kept->mutex);
  DeferredDelete* const added = thing.get();
  if (kept->last == nullptr) {
    kept->first = std::move(thing);
  } else {
    kept->last->next_ = std::move(thing);
  }
  kept->last = added;
  kept->arrived.notify_one();
}

void DeferredDeletionQueue::sweep(State& state) noexcept {
  std::unique_ptr<DeferredDelete> over;
  std::uint64_t count = 0;
  {
    std::lock_guard lock(state.mutex);
    std::unique_ptr<DeferredDelete>* tail = &over;
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
    state.in_hand += count;
  }
  while (over) {
    std::unique_ptr<DeferredDelete> next = std::move(over->next_);
    ++freeing;
    over = std::move(next);  // frees the one before
    --freeing;
    {
      std::lock_guard lock(state.mutex);
      --state.in_hand;
      state.freed.notify_all();
    }
    std::lock_guard lock(unfreed().mutex);
    --unfreed().count;
    unfreed().changed.notify_all();
  }
}

void DeferredDeletionQueue::run(const std::shared_ptr<State>& state) noexcept {
  for (;;) {
    sweep(*state);
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
    if (pending.queue) (void)wait_for(pending, kPatience);
  }
}

void DeferredDeletionQueue::collect_completed() noexcept {
  const auto kept = state_;
  sweep(*kept);
}

void DeferredDeletionQueue::flush() noexcept {
  if (freeing != 0) return;
  const auto kept = state_;
  std::unique_lock lock(kept->mutex);
  kept->freed.wait(lock, [&] { return !kept->first && kept->in_hand == 0; });
}

}  // namespace reprise::detail
