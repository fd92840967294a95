#include "base/creator_process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <new>

namespace reprise::detail {

pid_t process_id() noexcept {
  static std::atomic<pid_t> id{::getpid()};
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { id.store(::getpid(), std::memory_order_relaxed); });
  static_cast<void>(registered);
  return id.load(std::memory_order_relaxed);
}

void keep_until_exit(void* object) noexcept {
  struct Kept {
    void* object;
    Kept* next;
  };
  static std::atomic<Kept*> first{nullptr};
  Kept* const kept = new (std::nothrow) Kept{object, first.load()};
  if (kept == nullptr) return;
  while (!first.compare_exchange_weak(kept->next, kept)) {
  }
}

}  // namespace reprise::detail
