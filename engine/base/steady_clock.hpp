// The host's steady clock in nanoseconds, and durations in 32 bits. Threads: pure functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace reprise::detail {

// Never 0.
[[nodiscard]] inline std::int64_t steady_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Clamps a duration to [0, 2^32 - 1] ns.
[[nodiscard]] constexpr std::uint32_t saturated_ns(std::int64_t ns) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(ns, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace reprise::detail
