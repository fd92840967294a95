// beside: a part of a compile that another thread does meanwhile, where it is long enough to be
// worth a thread. Threads: any.
#pragma once

#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace reprise::detail {

// From so many commands on, each stage takes many times as long as a thread takes to begin.
inline constexpr std::size_t kCommandsWorthAThread = 4096;

// What `work` gives, or throws, once it is asked for: done by a thread of its own from now on, or
// by the one that asks. Going, the future waits for the thread; whatever `work` refers to outlives
// it.
template <class Work>
[[nodiscard]] std::future<std::invoke_result_t<Work&>> beside(std::size_t commands, Work work) {
  static const bool has_others = std::thread::hardware_concurrency() > 1;
  if (has_others && commands >= kCommandsWorthAThread) {
    try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // no thread to be had
    }
  }
  return std::async(std::launch::deferred, std::move(work));
}

}  // namespace reprise::detail
