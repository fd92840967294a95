// Counts this thread's heap allocations, and makes them fail, for tests that say how many there may
// be.
//
// Linking reprise_counting_allocator replaces the program's operator new and delete; link it only
// where it is wanted. Counts are per thread: what other threads allocate meanwhile does not disturb
// them.
#pragma once

#include <cstdint>

namespace reprise::test {

/// Allocations through operator new that the calling thread has made since it started.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

/// While one lives, the calling thread's allocation number `n` (counted from 0) and all later ones
/// throw std::bad_alloc. Scopes do not nest. Allocations of other threads succeed.
class FailingAllocations {
 public:
  explicit FailingAllocations(std::uint64_t n) noexcept;
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  /// Whether an allocation was refused.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace reprise::test
