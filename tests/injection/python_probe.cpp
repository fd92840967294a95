// A library that reads Python's stacks as CUPTI's callbacks do, for python_stacks_test.py, which
// loads it with ctypes: a CDLL releases the GIL in each call, a PyDLL holds it. Threads: any.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "injection/python_stacks.hpp"

using reprise::detail::CallFrame;
using reprise::detail::PythonStacks;

namespace {

std::mutex driver_lock;

// A line per frame, innermost first: function, file, line, and whether the user wrote it.
std::string text_of(const CallFrame* innermost) {
  std::string text;
  for (const CallFrame* frame = innermost; frame != nullptr; frame = frame->caller) {
    const bool is_user = frame->code->author == reprise::detail::CodeName::Author::User;
    text += frame->code->function + '\t' + frame->code->file + '\t' + std::to_string(frame->line) +
            (is_user ? "\tuser\n" : "\tlibrary\n");
  }
  return text;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// The text of this thread's stack, cut to `size` bytes.
void probe_read(char* text, std::size_t size) {
  const std::string all = text_of(PythonStacks::of_process().read());
  std::strncpy(text, all.c_str(), size - 1);
}

// As of a thread that Python does not know.
void probe_read_elsewhere(char* text, std::size_t size) {
  std::thread([=] { probe_read(text, size); }).join();
}

// The identity of this thread's stack; 0: none.
std::uintptr_t probe_identity() {
  return reinterpret_cast<std::uintptr_t>(PythonStacks::of_process().read());
}

// The mean time of a read, ns.
double probe_time(int reads) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < reads; ++i) static_cast<void>(PythonStacks::of_process().read());
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began)
             .count() /
         reads;
}

// Waits with the GIL as it was at the call, ms.
void probe_wait(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A lock, as the driver has them; taken alone, and during a wait and a read. Returns whether there
// was a stack.
void probe_lock() { const std::lock_guard lock(driver_lock); }
int probe_read_locked(int ms) {
  const std::lock_guard lock(driver_lock);
  probe_wait(ms);
  return PythonStacks::of_process().read() != nullptr ? 1 : 0;
}

// Reads when the process ends, after Python did; the process aborts if there is a stack.
void probe_at_exit() {
  static_cast<void>(std::atexit([] {
    if (PythonStacks::of_process().read() != nullptr) std::abort();
  }));
}

std::uint64_t probe_dropped() { return PythonStacks::of_process().dropped(); }

}  // extern "C"
#pragma GCC visibility pop
