// Fiber: a stack with a suspended context, and the switch between fibers. Informs the sanitizers.
// Knows no blocks. Threads: a fiber stays on the operating system thread that started it.
#pragma once

#include <cstddef>

#include "backend/host/sanitizers.hpp"

namespace reprise::detail {

struct Fiber {
  void* context = nullptr;             // of Boost.Context, while suspended
  const void* stack_bottom = nullptr;  // lowest address
  std::size_t stack_bytes = 0;
  void (*function)(Fiber&) noexcept = nullptr;  // never returns; it ends with a switch
#ifdef REPRISE_THREAD_SANITIZER
  void* sanitizer_fiber = nullptr;
#endif
};

struct FiberStack {
  std::byte* bottom = nullptr;
  std::size_t bytes = 0;
  // Offsets the stacks of many fibers, so that they do not share cache sets.
  std::size_t unused_at_top = 0;
};

// Prepares `fiber` to start with `function` at the first switch to it.
void begin_fiber(Fiber& fiber, const FiberStack& stack, void (*function)(Fiber&) noexcept) noexcept;
// Makes `fiber` represent the calling stack.
void adopt_current_stack(Fiber& fiber) noexcept;
// Destroys a suspended or unstarted fiber; its stack can be reused.
void end_fiber(Fiber& fiber) noexcept;

// Switches to `to`. Returns after a switch back to `from`, the calling fiber.
void switch_fiber(Fiber& from, Fiber& to) noexcept;

}  // namespace reprise::detail
