// FiberStacks: memory for stacks of one size, freed together. Threads: one thread at a time.
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

  // Each stack has a guard page below it unless the process has too many mappings. Throws
  // std::bad_alloc.
  [[nodiscard]] FiberStack take();
  [[nodiscard]] bool contains(const std::byte* address) const noexcept;  // of any of them

 private:
  std::vector<std::byte*> slabs_;
  std::size_t left_in_slab_ = 0, count_ = 0;
};

}  // namespace reprise::detail
