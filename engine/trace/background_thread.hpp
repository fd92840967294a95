// A thread that works for whoever looks on: the application's signals are for its own threads.
// Knows no record. Threads: pure function.
#pragma once

#include <functional>
#include <thread>

namespace reprise::trace {

// Runs `work` on a thread that takes no signals but its own faults. `name`: up to 15 characters,
// for debuggers and the kernel.
[[nodiscard]] std::thread start_background_thread(const char* name, std::function<void()> work);

}  // namespace reprise::trace
