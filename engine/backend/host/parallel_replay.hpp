// ParallelReplay: runs a program's nodes on all threads of a crew, each as soon as those before it
// are done. A thread goes on with a node that it made ready, and offers the others. A node that it
// goes right on with begins, as far as times are told, when the last of those before it ended.
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

  // Runs the nodes from `first` on; those before are done. Returns when all are, or, once the
  // device is lost, when none is running. `times`: of every node, or null where nobody wants to
  // know.
  void run(WorkerArena& workers, std::uint64_t replay, std::uint32_t first,
           NodeTime* times) noexcept;

 private:
  class Tasks;
  void prepare(std::uint32_t first);
  void run_roots(Tasks& tasks, std::uint32_t first, std::uint32_t last) noexcept;
  void run_chain(Tasks& tasks, std::uint32_t node) noexcept;

  HostProgram& program_;
  const DeviceGeneration& generation_;
  CallbackErrors& errors_;
  std::unique_ptr<std::atomic<std::uint64_t>[]>
      waits_for_;  // a node: how many before it are not done, and when the last of those that are
                   // ended
  std::vector<std::uint32_t> roots_;
  std::atomic<std::uint32_t> handed_over_{0};  // what one thread did before is seen by the next
};

}  // namespace reprise::detail
