// Elapsed time, for decisions about splitting work. Threads: any.
#pragma once

#include <chrono>
#include <cstdint>

namespace reprise::detail {

[[nodiscard]] inline std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point begin) {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace reprise::detail
