// plan_memory: offsets for buffers with given lifetimes in one piece of memory that is as small as
// can be (dynamic storage allocation, all lifetimes known). Graphs plan their transients by the
// same code; this is the door for any other list. Knows no device. Threads: pure functions; any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace reprise {

// A buffer that holds bytes from time `lower` until just before `upper`: half-open, so that one may
// begin where another ends and share bytes with it. Times are of any unit; only their order counts.
struct BufferLifetime {
  std::int64_t lower = 0, upper = 0;  // lower < upper
  std::uint64_t size = 0;             // bytes; 0 lies at offset 0
  std::uint64_t alignment = 1;        // of the offset, bytes; any number from 1 on
};

// How far a search is. Its plan gets better while it goes on, never worse.
struct MemoryPlanProgress {
  std::uint64_t height = 0, bound = 0;  // bytes, of the best plan so far
  double part = 0;                      // of the budget that is spent, 0..1
};

struct MemoryPlanDesc {
  // Time for a search, once quick ways have not reached the bound, on this thread and on one more
  // that ends with the call. 0: those ways alone, whose result is the same on every run and
  // machine.
  std::chrono::nanoseconds budget = std::chrono::nanoseconds(0);
  // Bytes that there are: a search goes for a plan of this height first, and then on. 0: it does
  // not matter.
  std::uint64_t capacity = 0;
  std::function<void(const MemoryPlanProgress&)> progress =
      nullptr;  // called now and then while a search goes on
  // Offsets of an earlier plan of nearly the same list: [i] is buffer i's, kNoOffset where it had
  // none; shorter than the list: the rest had none. Buffers stay there wherever that is still
  // allowed and the height is at most `keep_within` above that of a plan from nothing.
  std::span<const std::uint64_t> keep = {};
  double keep_within = 0.02;
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
};

struct MemoryPlan {
  std::vector<std::uint64_t> offsets;  // bytes, by buffer
  std::uint64_t height = 0;            // bytes: the greatest end of a buffer
  std::uint64_t bound =
      0;  // bytes: the most that live at once, alignment counted; no plan is lower
  bool is_optimal =
      false;  // no plan is lower: the height is the bound, or a search has tried everything else
};

// Throws InvalidArgument (Stage::Memory) naming the buffer by its index: an empty or negative
// lifetime, alignment 0, sizes whose sum is beyond 2^62. O(n log n) for the first plan; quicker
// than 0.2 s for some ten thousands of buffers where the budget is 0.
//
// Methods: bottom-left and best-fit packing in several orders, of the buffers and of blocks of
// them: those of one size that follow each other, and those of one lifetime whose sum is the size
// of what is before or after them, are likely to lie together, again and again; then a depth-first
// search with restarts over packings in which each buffer rests on others or on the ground (their
// idea, and that of searching independent stretches of time on their own: M. Moffitt, MiniMalloc,
// ASPLOS 2023), and beside it ejections from what fits best (the idea: Y. Nagata, O. Braysy, 2009).
// The search's bound is that of one machine with release times, for each set of buffers that live
// at once; it goes on where such a set leaves the fewest choices.
[[nodiscard]] MemoryPlan plan_memory(std::span<const BufferLifetime> buffers,
                                     const MemoryPlanDesc& desc = {});

}  // namespace reprise
