// Fiber: a stack with a point to go on from, and the switch from one to another. Tells the
// sanitizers about it. Knows no blocks. Threads: a fiber stays on the thread of the operating
// system that began it.
#pragma once

#include <cstddef>

#include "backend/host/sanitizers.hpp"

namespace reprise::detail {

struct Fiber {
  void* context = nullptr;             // Boost.Context's; of a fiber that is not running
  const void* stack_bottom = nullptr;  // lowest address
  std::size_t stack_bytes = 0;
  void (*function)(Fiber&) noexcept = nullptr;  // never returns: its last act is a switch
#ifdef REPRISE_THREAD_SANITIZER
  void* sanitizer_fiber = nullptr;
#endif
};

struct FiberStack {
  std::byte* bottom = nullptr;
  std::size_t bytes = 0;
  std::size_t unused_at_top =
      0;  // so that the stacks of many fibers do not fall on the same cache lines
};

// Makes `fiber` begin with `function` at the first switch to it.
void begin_fiber(Fiber& fiber, const FiberStack& stack, void (*function)(Fiber&) noexcept) noexcept;
// Makes `fiber` stand for the stack that this is called on.
void adopt_current_stack(Fiber& fiber) noexcept;
// Forgets a fiber that is not running and was begun; its stack may be used for something else.
void end_fiber(Fiber& fiber) noexcept;

// Goes on in `to`; returns when something switches back to `from`, the fiber that calls this.
void switch_fiber(Fiber& from, Fiber& to) noexcept;

}  // namespace reprise::detail
