// async_if_large: runs a part of a compile on another thread if it takes long enough to be worth
// one. Threads: any thread.
#pragma once

#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace reprise::detail {

// From this many commands on, each stage takes much longer than starting a thread.
inline constexpr std::size_t kMinAsyncCommands = 4096;

// A future of work(): run by a new thread from now on, or by the caller of get(). The future's
// destructor joins; captured references must outlive it.
template <class Work>
[[nodiscard]] std::future<std::invoke_result_t<Work&>> async_if_large(std::size_t commands,
                                                                      Work work) {
  static const bool has_other_cores = std::thread::hardware_concurrency() > 1;
  if (has_other_cores && commands >= kMinAsyncCommands) {
    try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // no thread is available: run deferred
    }
  }
  return std::async(std::launch::deferred, std::move(work));
}

}  // namespace reprise::detail
