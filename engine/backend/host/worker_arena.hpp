// WorkerArena: the executor threads that one queue uses. Knows no nodes. Threads: one thread at a
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

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

  // Lets a thread of the arena run a deferred task. Any thread may call.
  void enqueue(tbb::task_handle&& task) { arena_.enqueue(std::move(task)); }

  // Calls work(0) to work(count - 1), on this thread and as many of the arena as are free. Returns
  // when all calls have. While this thread waits for the others, it runs nothing else.
  template <class Work>
  void run_each(std::uint32_t count, const Work& work) {
    // Releases and acquires the writes of one thread to the next.
    std::atomic<std::uint32_t> handed_over{0};
    run([&] {
      tbb::this_task_arena::isolate([&] {
        tbb::task_group group;
        handed_over.store(1, std::memory_order_release);
        for (std::uint32_t i = 1; i < count; ++i)
          group.run([&work, &handed_over, i] {
            static_cast<void>(handed_over.load(std::memory_order_acquire));
            work(i);
            handed_over.fetch_add(1, std::memory_order_release);
          });
        work(0);
        group.wait();
      });
    });
    static_cast<void>(handed_over.load(std::memory_order_acquire));
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
