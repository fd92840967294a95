// The host device's clock for the times of nodes. Threads: pure functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "backend/backend.hpp"

namespace reprise::detail {

// Nanoseconds of the steady clock; never 0.
[[nodiscard]] inline std::int64_t steady_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[nodiscard]] inline NodeTime node_time(std::int64_t started, std::int64_t ended, std::uint16_t worker) noexcept {
  constexpr std::int64_t kLongest = std::numeric_limits<std::uint32_t>::max();
  return {started, static_cast<std::uint32_t>(std::min(ended - started, kLongest)), worker};
}

}  // namespace reprise::detail
