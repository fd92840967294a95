// Runtime of kernels on the host device: schedules the threads of one block. For
// <reprise_kernel.hpp> only; applications do not call it. One operating system thread executes a
// block. The block's threads run one after another on its stack until one waits for others; from
// then on each waiting thread is a fiber with its own stack. Threads: blocks share no state.
#pragma once

#include <cstddef>
#include <cstdint>

#include <reprise/kernel_desc.hpp>
#include <reprise/types.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel {

inline constexpr std::uint32_t kMaxSharedBytes = 232448;  // dynamic shared memory of a block
inline constexpr std::size_t kSharedAlignment = 1024;     // bytes

}  // namespace reprise::inline REPRISE_ABI::host_kernel

// The dynamic shared memory of the calling operating system thread's block in shader files with
// `extern __shared__` arrays, which refer to it by this name. Others use HostBlock::shared.
extern "C" REPRISE_API thread_local constinit unsigned char
    reprise_dynamic_shared_block[reprise::host_kernel::kMaxSharedBytes];

namespace reprise::inline REPRISE_ABI::host_kernel {

struct ThreadPosition {
  std::uint32_t x = 0, y = 0, z = 0;
};

// The state of one block.
struct BlockRun {
  // Runs the threads from `first` on, x fastest. Returns after a thread that waited for others, or
  // after the last thread.
  using RunFrom = void (*)(BlockRun&, ThreadPosition first) noexcept;
  BlockRun(RunFrom run, const HostBlock& of) noexcept : run_from(run), block(of) {}

  RunFrom run_from;
  const HostBlock& block;
  std::uint64_t arrivals = 0;  // calls of the functions below
};

// The votes of the threads at a barrier.
struct Vote {
  std::uint32_t set = 0;      // threads with a true predicate
  std::uint32_t arrived = 0;  // threads that arrived
};

// A barrier, called by the thread at `me`. Returns after every thread of the block has arrived as
// often or ended. Terminates the program if the memory for a stack is not available.
[[nodiscard]] REPRISE_API Vote meet(BlockRun& run, ThreadPosition me, bool predicate) noexcept;

inline constexpr std::uint32_t kWarpSize = 32;

// Input and result of one thread in a function of its warp.
struct Lane {
  std::uint64_t value = 0;
  std::uint32_t argument = 0;
  std::uint64_t result = 0;
};
// Sets the results of the lanes in `present`. `lanes`: those of the warp.
using WarpExchange = void (*)(Lane (&lanes)[kWarpSize], std::uint32_t present) noexcept;
struct WarpCall {
  const char* function = "";  // for messages
  std::uint32_t mask = 0;     // lanes that take part
  WarpExchange exchange = nullptr;
};

// Called by every thread of call.mask that has not ended, with the same function; returns the
// result for the thread at `me`. Terminates the program, with a message that names kernel, block
// and lanes, if the mask lacks the caller, if lanes of one mask call different functions, or if
// the lanes wait for each other for ever.
[[nodiscard]] REPRISE_API std::uint64_t meet_warp(BlockRun& run, ThreadPosition me,
                                                  const WarpCall& call, std::uint64_t value,
                                                  std::uint32_t argument) noexcept;
// The lanes of the warp that are active together: those that call from one line of the source while
// all others wait.
[[nodiscard]] REPRISE_API std::uint32_t active_lanes(BlockRun& run, ThreadPosition me,
                                                     std::uint32_t line) noexcept;

[[nodiscard]] REPRISE_API std::int64_t steady_nanoseconds() noexcept;

// Called once, on the block's initial stack, if a thread has called one of the above. Returns after
// all threads have ended.
REPRISE_API void finish(BlockRun& run) noexcept;

// Kernels that are built with REPRISE_CHECKED_KERNELS call these: at the start of each block, with
// the addresses of its threadIdx and dynamic shared memory, and before each access to memory.
REPRISE_API void begin_checked_block(const HostBlock& block, const std::uint32_t* thread,
                                     const std::byte* shared) noexcept;
REPRISE_API void check_access(const void* address, std::size_t bytes, bool writes) noexcept;

}  // namespace reprise::inline REPRISE_ABI::host_kernel
