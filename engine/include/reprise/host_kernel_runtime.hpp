// Runtime of kernels on the host device: schedules the threads of one block. For
// <reprise_kernel.hpp> only; applications do not call it. One operating system thread executes a
// block. The block's threads run one after another on its stack until one waits at a barrier; from
// then on each waiting thread is a fiber with its own stack. Threads: blocks share no state.
#pragma once

#include <cstdint>

#include <reprise/types.hpp>

namespace reprise::host_kernel {

struct ThreadPosition {
  std::uint32_t x = 0, y = 0, z = 0;
};

// The state of one block.
struct BlockRun {
  // Runs the threads from `first` on, x fastest. Returns after a thread that called meet(), or
  // after the last thread.
  using RunFrom = void (*)(BlockRun&, ThreadPosition first) noexcept;
  BlockRun(RunFrom run, Dim3 size) noexcept : run_from(run), block(size) {}

  RunFrom run_from;
  Dim3 block;
  std::uint64_t arrivals = 0;  // calls of meet()
};

// The votes of the threads at a barrier.
struct Vote {
  std::uint32_t set = 0;      // threads with a true predicate
  std::uint32_t arrived = 0;  // threads that arrived
};

// A barrier, called by the thread at `me`. Returns after every thread of the block has arrived as
// often or ended. Terminates the program if the memory for a stack is not available.
[[nodiscard]] Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept;

// Called once, on the block's initial stack, if a thread has called meet(). Returns after all
// threads have ended.
void finish(BlockRun& run) noexcept;

}  // namespace reprise::host_kernel
