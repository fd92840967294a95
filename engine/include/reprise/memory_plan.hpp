// plan_memory: assigns offsets in one memory range to buffers with known lifetimes, with a peak as
// low as possible (dynamic storage allocation). Graphs plan their transient buffers with the same
// code. Knows no device. Threads: pure functions; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace reprise {

// A buffer that is alive from time `lower` until just before `upper`. A buffer may start at the
// time at which another ends, and share bytes with it. Times have any unit; only their order
// matters.
struct BufferLifetime {
  std::int64_t lower = 0, upper = 0;  // lower < upper
  std::uint64_t size = 0;             // bytes; an empty buffer gets offset 0
  std::uint64_t alignment = 1;        // bytes; of the offset; at least 1
};

// State of a search. The peak never increases during a search.
struct MemoryPlanProgress {
  std::uint64_t peak_bytes = 0;   // of the best plan so far
  std::uint64_t lower_bound = 0;  // bytes
  double budget_used = 0;         // part of the time budget, 0..1
};

struct MemoryPlanDesc {
  // Time for a search, which starts if fast methods do not reach the lower bound. The search uses
  // the calling thread and one more thread, which ends with the call. 0: no search; the result is
  // the same on every run and machine.
  std::chrono::nanoseconds budget = std::chrono::nanoseconds(0);
  // Available bytes. A search tries to reach this peak first and then continues. 0: no limit.
  std::uint64_t capacity = 0;
  // Called repeatedly during a search; may be empty.
  std::function<void(const MemoryPlanProgress&)> progress = nullptr;
  // Offsets of an earlier plan of a similar list, by buffer; kNoOffset: the buffer had no offset.
  // Missing entries at the end count as kNoOffset. Buffers keep these offsets where lifetimes allow
  // it, if the peak is at most `keep_within` (a fraction) above that of a new plan.
  std::span<const std::uint64_t> keep = {};
  double keep_within = 0.02;
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
};

struct MemoryPlan {
  std::vector<std::uint64_t> offsets;  // bytes, by buffer
  std::uint64_t peak_bytes = 0;        // the maximum end of a buffer
  // The maximum number of bytes alive at one time, alignment included. No plan has a lower peak.
  std::uint64_t lower_bound = 0;
  // No plan has a lower peak: the peak equals the lower bound, or a search excluded all lower
  // peaks.
  bool is_optimal = false;
};

// Throws InvalidArgument (Stage::Memory) that names the index of the buffer with an empty or
// negative lifetime, with alignment 0, or with which the sum of sizes and alignments exceeds 2^62.
// O(n log n) for the first plan; a list of some ten thousand buffers takes less than 0.2 s without
// a budget.
//
// Methods: skyline and best-fit packing in several orders, of the buffers and of blocks of buffers
// that are likely to lie together; then a depth-first search with restarts over packings in which
// each buffer rests on others or on the bottom, where independent spans of time are searched
// separately (M. Moffitt, MiniMalloc, ASPLOS 2023), and beside it an ejection search from the best
// packing (Y. Nagata, O. Braysy, 2009). The search prunes with the bound of one-machine scheduling
// with release times, for each set of buffers that are alive together, and branches in the set with
// the fewest choices.
[[nodiscard]] MemoryPlan plan_memory(std::span<const BufferLifetime> buffers,
                                     const MemoryPlanDesc& desc = {});

}  // namespace reprise
