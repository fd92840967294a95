// Comparison of the values of two contents of equal size. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reprise/inspection.hpp>

namespace reprise::detail {

struct ContentDifference {
  std::uint64_t index = 0;  // of the first value that differs
  std::uint64_t count = 0;  // values that differ
  // max |a - b| over them; infinity if one is infinite or NaN
  double largest = 0;
  friend bool operator==(const ContentDifference&, const ContentDifference&) = default;
};

// nullopt: all values are equal. `a` and `b` have the same size; bytes behind the last whole value
// are not compared.
[[nodiscard]] std::optional<ContentDifference> first_difference(std::span<const std::byte> a,
                                                                std::span<const std::byte> b,
                                                                ContentType type,
                                                                const Tolerance& tolerance = {});

}  // namespace reprise::detail
