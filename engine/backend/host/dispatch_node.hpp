// DispatchNode: one kernel launch with its parameter block. It measures the time of a block and
// runs the blocks on one thread or, if that is faster, on the whole arena. Threads: one thread at a
// time runs a node.
#pragma once

#include <cstdint>
#include <memory>

#include <reprise/kernel.hpp>

namespace reprise::detail {

class CheckedDispatch;
class WorkerArena;

class DispatchNode {
 public:
  // block.parameters outlives the node.
  DispatchNode(HostKernelFunction function, const HostBlock& block);

  void run(WorkerArena& workers) noexcept {
    if (block_count_ == 1 && checks_ == nullptr && block_.shared_bytes == 0)
      return function_(block_);
    run_blocks(workers);
  }

  // Runs some blocks, in linear order, on this thread. Several threads may run blocks of one node.
  void run_range(std::uint64_t first, std::uint64_t last) const noexcept;

  // The checks of the kernel's accesses; null: accesses are not checked. Threads: the thread that
  // runs the program, between runs.
  [[nodiscard]] const std::shared_ptr<CheckedDispatch>& checks() const noexcept { return checks_; }
  void swap_checks(std::shared_ptr<CheckedDispatch>& checks) noexcept { checks_.swap(checks); }

 private:
  void run_blocks(WorkerArena& workers) noexcept;
  void run_split(WorkerArena& workers, std::uint64_t first) const noexcept;

  HostKernelFunction function_;
  std::shared_ptr<CheckedDispatch> checks_;
  HostBlock block_;  // its index is 0, 0, 0
  std::uint64_t block_count_;
  std::uint64_t block_ns_ = 0;  // the latest measured time of a block
  std::uint32_t runs_ = 0;
};

}  // namespace reprise::detail
