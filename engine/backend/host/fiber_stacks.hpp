// FiberStacks: memory for stacks of one size, handed out one after another and given back together.
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/host/fiber.hpp"

namespace reprise::detail {

class FiberStacks {
 public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  // Below each stack lies a page that must not be touched, while the system has any to spare.
  // Throws std::bad_alloc.
  [[nodiscard]] FiberStack take();

 private:
  std::vector<std::byte*> slabs_;
  std::size_t left_in_slab_ = 0, taken_ = 0;
};

}  // namespace reprise::detail
