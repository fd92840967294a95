// WorkerArena: the executor threads that one queue uses. Knows no nodes. Threads: one thread at a
// time.
#pragma once

#include <cstdint>

#include <tbb/info.h>
#include <tbb/task_arena.h>

namespace reprise::detail {

class WorkerArena {
 public:
  explicit WorkerArena(std::uint32_t threads)
      : threads_(threads), arena_(static_cast<int>(threads)) {}

  [[nodiscard]] std::uint32_t threads() const noexcept { return threads_; }
  // Runs `work` on this thread; tasks that it spawns run on all threads of the arena.
  template <class Work>
  void run(const Work& work) {
    arena_.execute(work);
  }

  // The calling thread's index in the arena, from 1; 0 for other threads.
  [[nodiscard]] static std::uint16_t worker() noexcept {
    const int index = tbb::this_task_arena::current_thread_index();
    return index < 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(index + 1);
  }

  // The number of executor threads in this process.
  [[nodiscard]] static std::uint32_t default_threads() noexcept {
    return static_cast<std::uint32_t>(tbb::info::default_concurrency());
  }

 private:
  std::uint32_t threads_;
  tbb::task_arena arena_;
};

}  // namespace reprise::detail
