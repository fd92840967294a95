// Starts the library's own threads, with the application's signals blocked. Threads: any; no shared
// state.
#pragma once

#include <functional>
#include <thread>

#include <reprise/abi.hpp>

namespace reprise::detail {

// Runs `work` on a new thread that blocks all signals except synchronous faults. `name`: at most 15
// characters, shown by debuggers and the kernel. Throws std::system_error if no thread can be
// created.
[[nodiscard]] REPRISE_API std::thread start_background_thread(const char* name,
                                                              std::function<void()> work);

}  // namespace reprise::detail
