// Queries on the fibers that run a block's threads. Threads: any.
#pragma once

#include <cstddef>

namespace reprise::detail {

// True for an address in a stack of the calling operating system thread's fibers.
[[nodiscard]] bool is_fiber_stack(const std::byte* address) noexcept;

}  // namespace reprise::detail
