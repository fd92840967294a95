// Support for programs that call fork(). A forked child has a copy of every object of its parent,
// but only the thread that called fork(): other threads do not exist, locks that they held stay
// locked, and the destructor of a condition variable waits for waiters forever. The child therefore
// neither destroys such objects nor locks them. Threads: any.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <utility>

#include <reprise/abi.hpp>

namespace reprise::detail {

// The id of this process, without a system call.
[[nodiscard]] REPRISE_API pid_t process_id() noexcept;

// The process that created an object.
class CreatorProcess {
 public:
  CreatorProcess() noexcept : id_(process_id()) {}
  // False in a forked child.
  [[nodiscard]] bool is_current() const noexcept { return id_ == process_id(); }

 private:
  pid_t id_;
};

// Keeps an object that a forked child must not destroy reachable, so that it is not reported as a
// leak.
void keep_until_exit(void* object) noexcept;

// An object that owns threads. A forked child does not destroy it.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_thread_owner(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...),
                            [process = CreatorProcess()](T* object) {
                              process.is_current() ? delete object : keep_until_exit(object);
                            });
}

// A global object of this process; a forked child gets a new one. Never destroyed: usable during
// process exit.
template <class T>
class PerProcess {
 public:
  constexpr PerProcess() = default;
  // The first call in a process allocates.
  [[nodiscard]] T& get() {
    One* one = latest_.load(std::memory_order_acquire);
    while (one == nullptr || !one->process.is_current()) {
      auto made = std::make_unique<One>();
      made->parent = one;
      if (latest_.compare_exchange_strong(one, made.get())) one = made.release();
    }
    return one->value;
  }

 private:
  struct One {
    CreatorProcess process;
    One* parent = nullptr;  // keeps the parent process's object reachable
    T value;
  };
  std::atomic<One*> latest_{nullptr};
};

}  // namespace reprise::detail
