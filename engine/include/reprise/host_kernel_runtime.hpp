// How the threads of one block of a host kernel take turns. reprise_kernel.hpp uses it; an
// application does not. A block runs on one thread of the operating system. Its threads run one
// after another, on that thread's own stack, until one waits for the others: from then on each
// waiting thread keeps a stack of its own. Threads: the threads of the operating system share
// nothing here.
#pragma once

#include <cstdint>

#include <reprise/types.hpp>

namespace reprise::host_kernel {

struct ThreadPosition {
  std::uint32_t x = 0, y = 0, z = 0;
};

// One block on its way.
struct BlockRun {
  // Runs the threads from `first` on, x fastest; returns after a thread that called meet(), or
  // after the last one.
  using RunFrom = void (*)(BlockRun&, ThreadPosition first) noexcept;
  BlockRun(RunFrom run, Dim3 size) noexcept : run_from(run), block(size) {}

  RunFrom run_from;
  Dim3 block;
  std::uint64_t arrivals = 0;  // calls of meet()
};

// What the threads that met had to say.
struct Vote {
  std::uint32_t set = 0;      // how many came with a true predicate
  std::uint32_t arrived = 0;  // how many came
};

// Called by the thread at `me`: returns once every thread of the block has arrived as often or
// ended. Ends the program where there is no memory for another stack.
[[nodiscard]] Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept;

// Called once on the stack that the block began on, if a thread has met others: returns when all
// have ended.
void finish(BlockRun& run) noexcept;

}  // namespace reprise::host_kernel
