// Counts the heap allocations of the calling thread and makes them fail, for tests of allocation
// limits.
//
// Linking reprise_counting_allocator replaces operator new and delete of the program; link it only
// where needed. Counts are per thread, so concurrent allocations of other threads do not affect
// them.
#pragma once

#include <cstdint>

namespace reprise::test {

// Allocations through operator new that the calling thread has made since it started.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

// While an object lives, `count` allocations of the calling thread, from number `n` (counted from
// 0), throw std::bad_alloc. Scopes do not nest. Allocations of other threads succeed.
class FailingAllocations {
 public:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};  // number n and all later ones

  explicit FailingAllocations(std::uint64_t n, std::uint64_t count = kAll) noexcept;
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  // True if an allocation failed.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace reprise::test
