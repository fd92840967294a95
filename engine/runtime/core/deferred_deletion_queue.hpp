// DeferredDeletionQueue: destroys objects that pending launches may still use, after those launches
// complete, on its own thread. prepare() starts the thread. push() never waits for a launch, and
// nothing is destroyed inside a device's callback. Knows no device.
// Threads: any thread. No lock is held while an object is destroyed: a destructor may run code of
// the application, push more objects, or drop the last reference to the device that owns the queue.
// A forked child destroys nothing of its parent.
#pragma once

#include <cstdint>
#include <memory>

namespace reprise::detail {

class BackendQueue;

// An object to destroy later.
class DeferredDelete {
 public:
  DeferredDelete() = default;
  DeferredDelete(const DeferredDelete&) = delete;
  DeferredDelete& operator=(const DeferredDelete&) = delete;
  virtual ~DeferredDelete() = default;

  // A submission that must complete first; a null queue if none is pending.
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
  // The queue is empty by then: each object in it holds the device that owns the queue.
  ~DeferredDeletionQueue();

  // Call before creating an object for push(). Starts the thread. Throws OutOfMemory if no thread
  // can start.
  void prepare();
  // Objects that become ready together are destroyed in the order of their push().
  void push(std::unique_ptr<DeferredDelete> object) noexcept;
  // Destroys the objects that are ready, on the calling thread, and waits for those that other
  // threads are destroying; called from a destructor that a queue runs, it does not wait. The
  // caller holds no lock.
  void collect_completed() noexcept;
  // Destroys the objects that are ready, on the calling thread, if many are waiting: a program that
  // drops objects faster than the thread destroys them is slowed down. Call before allocating,
  // without a lock.
  void limit_backlog() noexcept;
  // Blocks until everything pushed so far is destroyed. Returns at once if called from a destructor
  // that this queue runs.
  void flush() noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state) noexcept;
  // False if no object was ready.
  static bool collect(State& state) noexcept;
  // Waits for the calls of collect() that have begun. False if there was none.
  static bool wait_for_batches(State& state) noexcept;
  std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace reprise::detail
