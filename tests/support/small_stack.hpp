// on_small_stack: runs a function on a thread whose stack ends deep recursion, with the program.
// Threads: the caller waits.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>

namespace reprise::test {

// 256 KiB of frames. The C library takes thread-local memory from the stack, and programs with
// kernels of the host device have 240 KiB of it, for dynamic shared memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kSmallStack = 1280 * 1024;  // the frames are larger
#else
inline constexpr std::size_t kSmallStack = 512 * 1024;
#endif

// Rethrows what `work` throws.
inline void on_small_stack(const std::function<void()>& work) {
  struct Run {
    const std::function<void()>& work;
    std::exception_ptr error;
  } run{work, nullptr};
  pthread_attr_t attributes;
  pthread_t thread{};
  const auto start = [](void* argument) -> void* {
    auto& of = *static_cast<Run*>(argument);
    try {
      of.work();
    } catch (...) {
      of.error = std::current_exception();
    }
    return nullptr;
  };
  if (::pthread_attr_init(&attributes) != 0 ||
      ::pthread_attr_setstacksize(&attributes, kSmallStack) != 0 ||
      ::pthread_create(&thread, &attributes, start, &run) != 0)
    throw std::runtime_error("a thread with a small stack could not be started");
  ::pthread_attr_destroy(&attributes);
  ::pthread_join(thread, nullptr);
  if (run.error) std::rethrow_exception(run.error);
}

}  // namespace reprise::test
