// plan_memory: places buffers with known lifetimes in one range of memory of minimal size (dynamic
// storage allocation). Graphs place their transients with the same code. Must not depend on a
// device. Threads: pure functions, safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

// A buffer that is alive in the half-open interval [lower, upper). Buffers whose intervals are
// disjoint may share bytes. Times have any unit; only their order matters.
struct BufferLifetime {
  std::int64_t lower = 0, upper = 0;  // lower < upper
  std::uint64_t size = 0;             // bytes; a buffer of 0 bytes gets offset 0
  std::uint64_t alignment = 1;        // of the offset, bytes; at least 1, not only powers of two
};

// Progress of a search. `peak_bytes` never increases.
struct MemoryPlanProgress {
  std::uint64_t peak_bytes = 0, lower_bound = 0;  // of the best plan so far
  double budget_fraction = 0;                     // elapsed part of the budget, 0 to 1
};

struct MemoryPlanDesc {
  // Time limit of a search that runs if the fast methods do not reach the lower bound. It uses the
  // calling thread and one more, which ends with the call. 0: fast methods only, whose result is
  // the same on every run and machine.
  std::chrono::nanoseconds budget = std::chrono::nanoseconds(0);
  // Bytes available: a search first looks for a plan of at most this size. Default: no goal.
  std::optional<std::uint64_t> capacity = {};
  // Called repeatedly on the calling thread during a search.
  std::function<void(const MemoryPlanProgress&)> progress = nullptr;
  // Offsets of an earlier plan of a similar list, by buffer; kNoOffset, or the end of the span, for
  // buffers that had none. Buffers keep these offsets where this is still valid, provided that the
  // peak exceeds that of a new plan by at most the fraction `keep_within`.
  std::span<const std::uint64_t> keep = {};
  double keep_within = 0.02;
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
};

struct MemoryPlan {
  std::vector<std::uint64_t> offsets;  // bytes, by buffer
  std::uint64_t peak_bytes = 0;        // maximum end of a buffer
  std::uint64_t lower_bound = 0;       // maximum bytes alive at once, including alignment
  bool is_optimal = false;  // no smaller plan exists: the peak is the bound, or a search proved it
};

// Throws InvalidArgument (Stage::Memory) with the index of the buffer for an empty or negative
// lifetime, for alignment 0, and for sizes whose sum exceeds 2^62. The first plan takes
// O(n log n); without a budget, ten thousands of buffers take less than 0.2 s.
//
// Fast methods: bottom-left and best-fit packing in several orders, of single buffers and of blocks
// of buffers (runs of equal size, and groups of equal lifetime that match a neighbour's size).
// Search: a depth-first search with restarts over packings in which each buffer rests on another
// one or on offset 0, separately for independent intervals of time (M. Moffitt, MiniMalloc, ASPLOS
// 2023), and in parallel an ejection search (Y. Nagata and O. Braysy, 2009). The depth-first search
// bounds each clique of buffers as a one-machine problem with release times, and branches on the
// clique with the fewest choices.
[[nodiscard]] REPRISE_API MemoryPlan plan_memory(std::span<const BufferLifetime> buffers,
                                                 const MemoryPlanDesc& desc = {});

}  // namespace reprise::inline REPRISE_ABI
