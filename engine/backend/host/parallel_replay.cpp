#include "backend/host/parallel_replay.hpp"

#include <tbb/task_group.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "backend/host/node_clock.hpp"
#include "backend/host/worker_arena.hpp"

namespace reprise::detail {

namespace {

// The upper bits count the unfinished predecessors. The lower bits contain the latest end of the
// finished ones, in ns since the start of the replay; kTooLate: that time or later.
constexpr unsigned kTimeBits = 40;
constexpr std::uint64_t kOneNode = std::uint64_t{1} << kTimeBits, kTooLate = kOneNode - 1;

// Records that a predecessor ended at `ended`. Returns the new word; the node may run if it is
// below kOneNode.
std::uint64_t arrive(std::atomic<std::uint64_t>& pending, std::uint64_t ended) noexcept {
  if (ended == 0) return pending.fetch_sub(kOneNode, std::memory_order_acq_rel) - kOneNode;
  std::uint64_t before = pending.load(std::memory_order_relaxed), after = 0;
  do {
    after = ((before & ~kTooLate) - kOneNode) | std::max(before & kTooLate, ended);
  } while (!pending.compare_exchange_weak(before, after, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  return after;
}

}  // namespace

class ParallelReplay::Tasks {
 public:
  Tasks(WorkerArena& workers, std::uint64_t replay, NodeTime* times)
      : workers_(workers),
        replay_(replay),
        times_(times),
        start_(times == nullptr ? 0 : steady_now()) {}
  [[nodiscard]] WorkerArena& workers() const noexcept { return workers_; }
  [[nodiscard]] std::uint64_t replay() const noexcept { return replay_; }
  [[nodiscard]] NodeTime* times() const noexcept { return times_; }
  [[nodiscard]] std::int64_t start() const noexcept { return start_; }
  template <class Task>
  void spawn(const Task& task) {
    group_.run(task);
  }
  template <class Task>
  [[nodiscard]] tbb::task_handle defer(const Task& task) {
    return group_.defer(task);
  }
  void wait() { group_.wait(); }

 private:
  WorkerArena& workers_;
  std::uint64_t replay_;
  NodeTime* times_;
  std::int64_t start_;  // 0 if times are not wanted
  tbb::task_group group_;
};

ParallelReplay::ParallelReplay(HostProgram& program, const DeviceGeneration& generation,
                               CallbackErrors& errors)
    : program_(program),
      generation_(generation),
      errors_(errors),
      pending_(new std::atomic<std::uint64_t>[program.node_count()]) {
  roots_.reserve(program.node_count());
}

void ParallelReplay::prepare(std::uint32_t first) {
  roots_.clear();
  for (std::uint32_t node = first; node < program_.node_count(); ++node) {
    std::uint64_t count = 0;
    for (const LoweredEdge& edge : program_.edges_into(node))
      count += edge.from >= first ? kOneNode : 0;
    pending_[node].store(count, std::memory_order_relaxed);
    if (count == 0) roots_.push_back(node);
  }
}

void ParallelReplay::run(WorkerArena& workers, std::uint64_t replay, std::uint32_t first,
                         NodeTime* times) noexcept {
  prepare(first);
  if (roots_.empty()) return;
  workers.run([&] {
    Tasks tasks(workers, replay, times);
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
    tasks.spawn([this, &tasks, middle, last] { run_roots(tasks, middle, last); });
    last = middle;
  }
  run_chain(tasks, roots_[first]);
}

void ParallelReplay::run_chain(Tasks& tasks, std::uint32_t node) noexcept {
  Next next{node, tasks.times() == nullptr ? 0 : steady_now()};
  while (next.node != kNone && !generation_.is_lost()) {
    if (program_.is_async(next.node)) {
      start_async(tasks, next.node, next.started);
      break;
    }
    program_.run(next.node, tasks.workers(), tasks.replay(), errors_);
    next = end_node(tasks, next.node, next.started);
  }
  handed_over_.fetch_add(1, std::memory_order_release);
}

void ParallelReplay::start_async(Tasks& tasks, std::uint32_t node, std::int64_t started) noexcept {
  // The group waits for the task from now on. std::function requires a copyable owner.
  auto rest = std::make_shared<tbb::task_handle>(tasks.defer([this, &tasks, node, started] {
    static_cast<void>(handed_over_.load(std::memory_order_acquire));
    const Next next = end_node(tasks, node, started);
    if (next.node != kNone) return run_chain(tasks, next.node);
    handed_over_.fetch_add(1, std::memory_order_release);
  }));
  program_.start(node, tasks.replay(), errors_, [this, &tasks, rest] {
    handed_over_.fetch_add(1, std::memory_order_release);
    tasks.workers().enqueue(std::move(*rest));
  });
}

ParallelReplay::Next ParallelReplay::end_node(Tasks& tasks, std::uint32_t node,
                                              std::int64_t started) noexcept {
  NodeTime* const times = tasks.times();
  std::uint64_t ended = 0;
  if (times != nullptr) {
    const std::int64_t now = steady_now();
    times[node] = node_time(started, now, WorkerArena::worker());
    ended = std::min(static_cast<std::uint64_t>(now - tasks.start()), kTooLate);
  }
  Next next{kNone, 0};
  std::uint64_t ready = kTooLate;  // when the next node became ready; kTooLate: unknown
  bool has_spawned = false;
  for (const std::uint32_t successor : program_.successors(node)) {
    std::atomic<std::uint64_t>& pending = pending_[successor];
    const std::uint64_t left = arrive(pending, ended);
    if (left >= kOneNode) continue;
    if (next.node == kNone) {
      next.node = successor;
      ready = left;
    } else {
      has_spawned = true;
      tasks.spawn([this, &tasks, &pending, successor] {
        // Acquires the predecessors' writes.
        static_cast<void>(pending.load(std::memory_order_acquire));
        run_chain(tasks, successor);
      });
    }
  }
  if (times != nullptr)
    next.started = has_spawned || ready == kTooLate
                       ? steady_now()
                       : tasks.start() + static_cast<std::int64_t>(ready);
  return next;
}

}  // namespace reprise::detail
