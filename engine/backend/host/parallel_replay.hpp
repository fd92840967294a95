// ParallelReplay: runs a program's nodes on all threads of an arena, each node as soon as its
// predecessors are complete. A thread continues with one node that it made ready and spawns tasks
// for the others. The recorded start of such a continued node is the end of its last predecessor.
// Threads: one replay at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/host/device_generation.hpp"
#include "backend/host/host_program.hpp"

namespace reprise::detail {

class ParallelReplay {
 public:
  ParallelReplay(HostProgram& program, const DeviceGeneration& generation, CallbackErrors& errors);

  // Runs the nodes from `first` on; earlier nodes are complete. Returns when all nodes are complete
  // or, after a device loss, when no node runs. `times`: of every node; null: not wanted.
  void run(WorkerArena& workers, std::uint64_t replay, std::uint32_t first,
           NodeTime* times) noexcept;

 private:
  class Tasks;
  void prepare(std::uint32_t first);
  void run_roots(Tasks& tasks, std::uint32_t first, std::uint32_t last) noexcept;
  // Runs a node and, one after another, nodes that this makes ready.
  void run_chain(Tasks& tasks, std::uint32_t node) noexcept;
  // Starts a node whose work is outside the process. A task follows when that has ended.
  void start_async(Tasks& tasks, std::uint32_t node, std::int64_t started) noexcept;
  // After a node has ended: spawns the nodes that this makes ready, but one, which it returns with
  // its start. kNone: no node became ready.
  struct Next {
    std::uint32_t node = 0;
    std::int64_t started = 0;
  };
  [[nodiscard]] Next end_node(Tasks& tasks, std::uint32_t node, std::int64_t started) noexcept;

  HostProgram& program_;
  const DeviceGeneration& generation_;
  CallbackErrors& errors_;
  // By node: the number of unfinished predecessors and the latest end of the others.
  std::unique_ptr<std::atomic<std::uint64_t>[]> pending_;
  std::vector<std::uint32_t> roots_;
  // Releases and acquires the writes of one thread to the next.
  std::atomic<std::uint32_t> handed_over_{0};
};

}  // namespace reprise::detail
