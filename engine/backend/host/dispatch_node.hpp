// DispatchNode: one kernel launch with its parameter block. It measures the time of a block and
// runs the blocks on one thread or, if that is faster, on the whole arena. Threads: one thread at a
// time runs a node.
#pragma once

#include <cstdint>

#include <reprise/kernel.hpp>

namespace reprise::detail {

class WorkerArena;

class DispatchNode {
 public:
  // block.parameters outlives the node.
  DispatchNode(HostKernelFunction function, const HostBlock& block);

  void run(WorkerArena& workers) noexcept {
    if (block_count_ == 1 && block_.shared_bytes == 0) return function_(block_);
    run_blocks(workers);
  }

 private:
  class SharedBlocks;
  void run_blocks(WorkerArena& workers) noexcept;
  void run_range(std::uint64_t first, std::uint64_t last) const noexcept;
  void run_split(WorkerArena& workers, std::uint64_t first) const noexcept;

  HostKernelFunction function_;
  HostBlock block_;  // its index is 0, 0, 0
  std::uint64_t block_count_;
  std::uint64_t block_ns_ = 0;  // the latest measured time of a block
  std::uint32_t runs_ = 0;
};

}  // namespace reprise::detail
