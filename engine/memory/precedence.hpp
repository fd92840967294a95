// Precedence: for each pair of transients whether all uses of one come before all of the other, and
// the few pairs that imply all others. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "memory/reachability_index.hpp"

namespace reprise::detail {

struct Precedence {
  std::vector<std::uint32_t> transients;  // by item: those of some bytes, in order of their first
                                          // use, so that a lower item may come before a higher one
  std::uint32_t words = 0;                // of a row
  std::vector<std::uint64_t> rows;        // by item: a bit for each one before it
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      covers;  // (item, later item): nothing else lies between them

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(transients.size());
  }
  // earlier < later
  [[nodiscard]] bool precedes(std::uint32_t earlier, std::uint32_t later) const {
    return (rows[std::size_t{later} * words + earlier / 64] >> earlier % 64 & 1) != 0;
  }
};

// O(n^2) bits, and a look at ReachabilityIndex for each pair that no other implies.
[[nodiscard]] Precedence find_precedence(const TransientUses& uses, const ReachabilityIndex& order);

}  // namespace reprise::detail
