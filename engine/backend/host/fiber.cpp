#include "backend/host/fiber.hpp"

#include <boost/context/detail/fcontext.hpp>

namespace reprise::detail {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Lives on the stack of the suspended fiber.
struct Switch {
  Fiber& from;
  Fiber& to;
};

// Runs first after every switch, in the resumed fiber.
Switch arrive(const transfer_t& transfer, [[maybe_unused]] void* own_fake_stack) noexcept {
  const Switch switched = *static_cast<const Switch*>(transfer.data);
  switched.from.context = transfer.fctx;
#ifdef REPRISE_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(own_fake_stack, &switched.from.stack_bottom,
                                  &switched.from.stack_bytes);
#endif
  return switched;
}

void enter(transfer_t transfer) noexcept {
  const Switch switched = arrive(transfer, nullptr);
  switched.to.function(switched.to);
}

}  // namespace

void begin_fiber(Fiber& fiber, const FiberStack& stack,
                 void (*function)(Fiber&) noexcept) noexcept {
  fiber.stack_bottom = stack.bottom;
  fiber.stack_bytes = stack.bytes;
  fiber.function = function;
  const std::size_t bytes = stack.bytes - stack.unused_at_top;
  fiber.context =
      make_fcontext(stack.bottom + bytes, bytes, [](transfer_t transfer) { enter(transfer); });
#ifdef REPRISE_THREAD_SANITIZER
  fiber.sanitizer_fiber = __tsan_create_fiber(0);
#endif
}

void adopt_current_stack([[maybe_unused]] Fiber& fiber) noexcept {
#ifdef REPRISE_THREAD_SANITIZER
  fiber.sanitizer_fiber = __tsan_get_current_fiber();
#endif
}

void end_fiber([[maybe_unused]] Fiber& fiber) noexcept {
#ifdef REPRISE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(fiber.stack_bottom, fiber.stack_bytes);
#endif
#ifdef REPRISE_THREAD_SANITIZER
  __tsan_destroy_fiber(fiber.sanitizer_fiber);
#endif
}

void switch_fiber(Fiber& from, Fiber& to) noexcept {
  const Switch switched{from, to};
  void* fake_stack = nullptr;
#ifdef REPRISE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#ifdef REPRISE_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
#endif
  static_cast<void>(arrive(jump_fcontext(to.context, const_cast<Switch*>(&switched)), fake_stack));
}

}  // namespace reprise::detail
