// DeferredDeletionQueue: frees what launches may still use, once they are over, on a thread of its
// own. The thread starts with the first thing that may have to be retired. No caller of push() ever
// waits for a launch, and nothing is freed inside a device's callback. Knows no device. Threads:
// any thread. No lock is held while a thing is freed: freeing may run an application's destructors,
// which may retire more, or drop the last reference to the device that owns this queue.
#pragma once

#include <cstdint>
#include <memory>

namespace reprise::detail {

class BackendQueue;

// A thing to be freed. Its destructor frees it.
class DeferredDelete {
 public:
  DeferredDelete() = default;
  DeferredDelete(const DeferredDelete&) = delete;
  DeferredDelete& operator=(const DeferredDelete&) = delete;
  virtual ~DeferredDelete() = default;

  // What is to be waited for first; an empty queue once all of it is over.
  struct Pending {
    std::shared_ptr<BackendQueue> queue;
    std::uint64_t serial = 0;
  };
  [[nodiscard]] virtual Pending pending() const noexcept = 0;

 private:
  friend class DeferredDeletionQueue;
  std::unique_ptr<DeferredDelete> next_;
};

class DeferredDeletionQueue {
 public:
  DeferredDeletionQueue();
  DeferredDeletionQueue(const DeferredDeletionQueue&) = delete;
  DeferredDeletionQueue& operator=(const DeferredDeletionQueue&) = delete;
  // Everything in it has been freed: each thing retired holds the device that owns the queue.
  ~DeferredDeletionQueue();

  // To be called before a thing is made that push() will get. Starts the thread; throws OutOfMemory
  // where there is none.
  void prepare();
  // Things that are over at the same time are freed in the order that they came in.
  void push(std::unique_ptr<DeferredDelete> thing) noexcept;
  // Frees what is over now, on this thread.
  void collect_completed() noexcept;
  // Blocks until everything pushed so far has been freed. Returns at once while a retired thing is
  // freed on this thread.
  void flush() noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state) noexcept;
  static void sweep(State& state) noexcept;
  std::shared_ptr<State> state_;  // the thread holds it too
};

}  // namespace reprise::detail
