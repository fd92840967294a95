// The times of the host device's nodes. Threads: pure functions.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"
#include "base/steady_clock.hpp"

namespace reprise::detail {

[[nodiscard]] inline NodeTime node_time(std::int64_t started, std::int64_t ended,
                                        std::uint16_t worker) noexcept {
  return {started, saturated_ns(ended - started), worker};
}

}  // namespace reprise::detail
