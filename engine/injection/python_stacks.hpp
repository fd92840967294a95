// PythonStacks: reads the call stack of a thread of Python within a CUPTI callback, where the
// driver may hold locks: it never waits for the GIL there. A thread that holds the GIL reads its
// own frames. For any other thread a helper thread takes the GIL and reads them, while the thread
// waits at most kWait. engine/docs/design/python-stacks.md argues why this cannot deadlock.
// Threads: any; read() makes calls to Python only under the GIL.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "injection/call_stack.hpp"
#include "injection/python_calls.hpp"

namespace reprise::detail {

class PythonStacks {
 public:
  static constexpr std::chrono::microseconds kWait{5'000};
  // All waits take at most this time, and a tenth of that of the program.
  static constexpr std::chrono::milliseconds kWaits{50};
  static constexpr int kWaitShare = 10;
  static constexpr std::size_t kMaxFrames = 128;  // the outer ones beyond are left out

  // The reader of this process. Never destroyed, because the helper may wait for the GIL until the
  // process ends.
  [[nodiscard]] static PythonStacks& of_process();

  // The innermost frame of this thread. Null: it runs no Python of the main interpreter, Python is
  // not initialised or is finalised, or the stack was dropped.
  [[nodiscard]] const CallFrame* read() noexcept;
  // Stacks that were not read because the GIL was not available in time, or waits took too long.
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  using Clock = std::chrono::steady_clock;
  // A request of a thread that waits, on its stack. The thread may leave while the state is
  // Waiting, and must stay while it is Claimed.
  struct Request {
    enum class State : std::uint8_t { Waiting, Claimed, Done };
    PythonCalls::State thread = nullptr;
    const CallFrame* stack = nullptr;
    std::atomic<State> state{State::Waiting};
    Request* next = nullptr;
  };
  struct Code {
    PythonCalls::Object reference = nullptr;  // a weak one
    const CodeName* name = nullptr;
    std::unordered_map<int, std::uint32_t> lines = {};  // by position; unused before 3.11
  };
  struct Frame {
    PythonCalls::Object frame = nullptr, code = nullptr;
    int position = 0;
  };
  struct Read {  // a frame of the last stack that was read
    PythonCalls::Object code = nullptr;
    int position = 0;
    PythonCalls::Object reference = nullptr;
    const CallFrame* frame = nullptr;
  };

  explicit PythonStacks(const PythonCalls& calls);
  [[nodiscard]] bool is_running() const;
  [[nodiscard]] const CallFrame* ask(PythonCalls::State thread);
  [[nodiscard]] bool wait(Request& request, Clock::time_point began);
  void start_helper();
  static void* run_helper(void* self);
  // Not inlined into it: see start_helper().
  void help();
  __attribute__((noinline)) void wait_for_requests();
  [[nodiscard]] __attribute__((noinline)) Request* claim();
  __attribute__((noinline)) void read_claimed(Request* first);
  __attribute__((noinline)) void finish(Request* first);

  // Under the GIL:
  [[nodiscard]] const CallFrame* read_frames(PythonCalls::State thread) noexcept;
  [[nodiscard]] const CallFrame* intern(std::size_t count);
  [[nodiscard]] bool is_of(PythonCalls::Object reference, PythonCalls::Object code) const;
  [[nodiscard]] Code* find_code(PythonCalls::Object code);
  [[nodiscard]] std::uint32_t line_of(Code& code, const Frame& frame) const;
  [[nodiscard]] std::string text_of(PythonCalls::Object code, const char* name) const;

  const PythonCalls& python_;
  const Clock::time_point began_ = Clock::now();
  const bool spins_;  // there are several processors
  std::atomic<bool> is_forked_{false};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<Clock::rep> waited_{0};
  std::once_flag helper_once_;
  bool has_helper_ = false;
  std::atomic<bool> has_requests_{false};
  std::mutex mutex_;  // guards the requests; never held during a call to Python
  std::condition_variable wake_, done_;
  Request* first_ = nullptr;

  // Guarded by the GIL:
  Frame now_[kMaxFrames];   // innermost first
  std::vector<Read> last_;  // outermost first
  std::unordered_map<PythonCalls::Object, Code> codes_;
  CallFrames frames_;
};

}  // namespace reprise::detail
