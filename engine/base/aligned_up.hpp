// aligned_up, floor_divide: sizes and offsets in multiples of a unit. Threads: any.
#pragma once

#include <cstdint>

namespace reprise::detail {

// The smallest multiple of `unit` that is not less than `value`. `unit` is not 0; the sum of both
// does not overflow.
[[nodiscard]] constexpr std::uint64_t aligned_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return unit == 1 ? value : (value + unit - 1) / unit * unit;
}

// The quotient, rounded down, for a positive divisor.
[[nodiscard]] constexpr std::int64_t floor_divide(std::int64_t value, std::int64_t by) noexcept {
  return value / by - (value % by < 0 ? 1 : 0);
}

}  // namespace reprise::detail
