// Precedence: for each pair of transients, whether all uses of one precede all uses of the other;
// and the cover relation, which implies all other pairs. Knows no device. Threads: values and pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/antichain.hpp"
#include "memory/reachability_index.hpp"

namespace reprise::detail {

struct Precedence {
  // Transients that are not empty, by item, in order of their first use. Only a lower item can
  // precede a higher one.
  std::vector<std::uint32_t> transients;
  std::uint32_t words = 0;          // of a row
  std::vector<std::uint64_t> rows;  // by item: one bit for each item that precedes it
  // Pairs (earlier, later) with no item between them.
  OrderedPairs covers;

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(transients.size());
  }
  // earlier < later
  [[nodiscard]] bool precedes(std::uint32_t earlier, std::uint32_t later) const {
    return (rows[std::size_t{later} * words + earlier / 64] >> earlier % 64 & 1) != 0;
  }
};

// O(n^2) bits, and one query of ReachabilityIndex for each pair that no other pair implies.
[[nodiscard]] Precedence find_precedence(const TransientUses& uses, const ReachabilityIndex& order);

// The maximum-weight set of transients of which no two may share bytes: a lower bound of the slab.
struct MaxWeightAntichain {
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> members;  // items, ascending
};
// Exact if ReachabilityIndex is exact.
[[nodiscard]] MaxWeightAntichain find_max_weight_antichain(const TransientUses& uses,
                                                           const Precedence& precedence);

}  // namespace reprise::detail
