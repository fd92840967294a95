#include "backend/host/fiber.hpp"

#include <boost/context/detail/fcontext.hpp>

namespace reprise::detail {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Lives on the stack of the suspended fiber.
struct Departure {
  Fiber& from;
  Fiber& to;
};

// Runs first after every switch, in the resumed fiber.
Departure arrive(const transfer_t& transfer, [[maybe_unused]] void* own_fake_stack) noexcept {
  const Departure departure = *static_cast<const Departure*>(transfer.data);
  departure.from.context = transfer.fctx;
#ifdef REPRISE_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(own_fake_stack, &departure.from.stack_bottom,
                                  &departure.from.stack_bytes);
#endif
  return departure;
}

void enter(transfer_t transfer) noexcept {
  const Departure departure = arrive(transfer, nullptr);
  departure.to.function(departure.to);
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
  const Departure departure{from, to};
  void* fake_stack = nullptr;
#ifdef REPRISE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#ifdef REPRISE_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
#endif
  static_cast<void>(
      arrive(jump_fcontext(to.context, const_cast<Departure*>(&departure)), fake_stack));
}

}  // namespace reprise::detail
