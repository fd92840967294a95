#include "backend/host/parallel_replay.hpp"

#include <tbb/task_group.h>

#include "backend/host/crew.hpp"
#include "backend/host/node_clock.hpp"

namespace reprise::detail {

class ParallelReplay::Tasks {
 public:
  Tasks(Crew& crew, std::uint64_t replay, NodeTime* times) : crew_(crew), replay_(replay), times_(times) {}
  [[nodiscard]] Crew& crew() const noexcept { return crew_; }
  [[nodiscard]] std::uint64_t replay() const noexcept { return replay_; }
  [[nodiscard]] NodeTime* times() const noexcept { return times_; }
  template <class Task>
  void offer(const Task& task) {
    group_.run(task);
  }
  void wait() { group_.wait(); }

 private:
  Crew& crew_;
  std::uint64_t replay_;
  NodeTime* times_;
  tbb::task_group group_;
};

ParallelReplay::ParallelReplay(HostProgram& program, const Lifeline& lifeline, CallbackErrors& errors)
    : program_(program), lifeline_(lifeline), errors_(errors), waits_for_(new std::atomic<std::uint32_t>[program.node_count()]) {
  roots_.reserve(program.node_count());
}

void ParallelReplay::prepare(std::uint32_t first) {
  roots_.clear();
  for (std::uint32_t node = first; node < program_.node_count(); ++node) {
    std::uint32_t count = 0;
    for (const LoweredEdge& edge : program_.edges_into(node)) count += edge.from >= first ? 1 : 0;
    waits_for_[node].store(count, std::memory_order_relaxed);
    if (count == 0) roots_.push_back(node);
  }
}

void ParallelReplay::run(Crew& crew, std::uint64_t replay, std::uint32_t first, NodeTime* times) noexcept {
  prepare(first);
  if (roots_.empty()) return;
  crew.lead([&] {
    Tasks tasks(crew, replay, times);
    handed_over_.store(1, std::memory_order_release);
    run_roots(tasks, 0, static_cast<std::uint32_t>(roots_.size()));
    tasks.wait();
  });
  static_cast<void>(handed_over_.load(std::memory_order_acquire));
}

void ParallelReplay::run_roots(Tasks& tasks, std::uint32_t first, std::uint32_t last) noexcept {
  static_cast<void>(handed_over_.load(std::memory_order_acquire));
  while (last - first > 1) {
    const std::uint32_t middle = first + (last - first) / 2;
    tasks.offer([this, &tasks, middle, last] { run_roots(tasks, middle, last); });
    last = middle;
  }
  run_chain(tasks, roots_[first]);
}

void ParallelReplay::run_chain(Tasks& tasks, std::uint32_t node) noexcept {
  for (;;) {
    if (lifeline_.is_cut()) break;
    NodeTime* const times = tasks.times();
    const std::int64_t started = times == nullptr ? 0 : steady_now();
    program_.run(node, tasks.crew(), tasks.replay(), errors_);
    if (times != nullptr) times[node] = node_time(started, steady_now(), Crew::worker());
    std::uint32_t next = kNone;
    for (const std::uint32_t follower : program_.followers(node)) {
      std::atomic<std::uint32_t>& waits_for = waits_for_[follower];
      if (waits_for.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      if (next == kNone) {
        next = follower;
      } else {
        tasks.offer([this, &tasks, &waits_for, follower] {
          static_cast<void>(waits_for.load(std::memory_order_acquire));  // before all else
          run_chain(tasks, follower);
        });
      }
    }
    if (next == kNone) break;
    node = next;
  }
  handed_over_.fetch_add(1, std::memory_order_release);
}

}  // namespace reprise::detail
