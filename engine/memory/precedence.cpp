#include "memory/precedence.hpp"

#include <algorithm>
#include <bit>

namespace reprise::detail {

Precedence find_precedence(const TransientUses& uses, const ReachabilityIndex& order) {
  Precedence result;
  for (const std::uint32_t transient : uses.by_first_use) {
    if (uses.transients[transient].bytes != 0) result.transients.push_back(transient);
  }
  result.words = (result.size() + 63) / 64;
  result.rows.assign(std::size_t{result.size()} * result.words, 0);
  for (std::uint32_t later = 0; later < result.size(); ++later) {
    std::uint64_t* const row = result.rows.data() + std::size_t{later} * result.words;
    // In descending order, so that a found predecessor implies its own predecessors before they are
    // queried.
    for (std::uint32_t word = later / 64 + 1; word-- > 0;) {
      const std::uint32_t first = word * 64, count = std::min(64u, later - first);
      const std::uint64_t all = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      for (std::uint64_t open = all & ~row[word]; open != 0;) {
        const std::uint32_t bit = static_cast<std::uint32_t>(std::bit_width(open)) - 1,
                            earlier = first + bit;
        open &= ~(std::uint64_t{1} << bit);
        if (!order.precedes(result.transients[earlier], result.transients[later])) continue;
        const std::uint64_t* const before =
            result.rows.data() + std::size_t{earlier} * result.words;
        for (std::uint32_t i = 0; i <= word; ++i) row[i] |= before[i];
        row[word] |= std::uint64_t{1} << bit;
        open &= ~row[word];
        result.covers.emplace_back(earlier, later);
      }
    }
  }
  return result;
}

MaxWeightAntichain find_max_weight_antichain(const TransientUses& uses,
                                             const Precedence& precedence) {
  std::vector<std::uint64_t> bytes;
  for (const std::uint32_t transient : precedence.transients)
    bytes.push_back(uses.transients[transient].bytes);
  MaxWeightAntichain set;
  set.members = max_weight_antichain(bytes, precedence.covers);
  for (const std::uint32_t item : set.members) set.bytes += bytes[item];
  return set;
}

}  // namespace reprise::detail
