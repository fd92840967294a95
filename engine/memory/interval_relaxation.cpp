#include "memory/interval_relaxation.hpp"

#include <algorithm>

namespace reprise::detail {

IntervalRelaxation relax_to_intervals(const TransientUses& uses, const ReachabilityIndex& order) {
  IntervalRelaxation result;
  for (const std::uint32_t transient : uses.by_first_use) {
    if (uses.transients[transient].bytes != 0) result.transients.push_back(transient);
  }
  const auto count = static_cast<std::uint32_t>(result.transients.size());

  // Last uses by chain, sorted by position. The pass below removes them from the end, so each list
  // is traversed once.
  struct LastUse {
    std::uint32_t position = 0, index = 0;
  };
  std::vector<std::vector<LastUse>> last_uses(order.chains());
  result.lifetimes.reserve(count);
  for (std::uint32_t index = 0; index < count; ++index) {
    const auto ends = order.last_uses(result.transients[index]);
    const std::int64_t end =
        ends.empty() ? count : index + 1;  // unknown uses: shares bytes with no later transient
    result.lifetimes.push_back({index, end, uses.transients[result.transients[index]].bytes});
    for (const ReachabilityIndex::ChainPosition& last : ends)
      last_uses[last.chain].push_back({last.position, index});
  }
  for (auto& list : last_uses) {
    std::sort(list.begin(), list.end(),
              [](const LastUse& a, const LastUse& b) { return a.position < b.position; });
  }

  // In descending order of `index`: a last use that does not precede transient `index` extends the
  // lifetime of its owner beyond `index`. Smaller indices cannot extend that lifetime further.
  for (std::uint32_t index = count; index-- > 0;) {
    const auto before = order.before_first_use(result.transients[index]);
    for (std::uint32_t chain = 0; chain < last_uses.size(); ++chain) {
      auto& list = last_uses[chain];
      const std::uint32_t passed = chain < before.size() ? before[chain] : 0;
      for (; !list.empty() && list.back().position >= passed; list.pop_back()) {
        std::int64_t& upper = result.lifetimes[list.back().index].upper;
        upper = std::max<std::int64_t>(upper, index + 1);
      }
    }
  }
  return result;
}

}  // namespace reprise::detail
