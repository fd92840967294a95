#include "memory/interval_relaxation.hpp"

#include <algorithm>

namespace reprise::detail {

IntervalRelaxation relax_to_intervals(const TransientUses& uses, const ReachabilityIndex& order) {
  IntervalRelaxation result;
  for (const std::uint32_t transient : uses.by_first_use) {
    if (uses.transients[transient].bytes != 0) result.transients.push_back(transient);
  }
  const auto count = static_cast<std::uint32_t>(result.transients.size());

  // Last uses by chain, the latest first: those of the chain that no later transient goes back
  // behind are at the end, so each list is walked once.
  struct LastUse {
    std::uint32_t position = 0, place = 0;
  };
  std::vector<std::vector<LastUse>> last_uses(order.chains());
  result.lifetimes.reserve(count);
  for (std::uint32_t place = 0; place < count; ++place) {
    const auto ends = order.last_uses(result.transients[place]);
    const std::int64_t end =
        ends.empty() ? count : place + 1;  // unknown: it shares with none that comes later
    result.lifetimes.push_back({place, end, uses.transients[result.transients[place]].bytes});
    for (const ReachabilityIndex::ChainPlace& last : ends)
      last_uses[last.chain].push_back({last.position, place});
  }
  for (auto& list : last_uses) {
    std::sort(list.begin(), list.end(),
              [](const LastUse& a, const LastUse& b) { return a.position < b.position; });
  }

  // From the last transient on: what it does not come after, and no later one did not either, ends
  // behind it.
  for (std::uint32_t place = count; place-- > 0;) {
    const auto before = order.before_first_use(result.transients[place]);
    for (std::uint32_t chain = 0; chain < last_uses.size(); ++chain) {
      auto& list = last_uses[chain];
      const std::uint32_t passed = chain < before.size() ? before[chain] : 0;
      for (; !list.empty() && list.back().position >= passed; list.pop_back()) {
        std::int64_t& upper = result.lifetimes[list.back().place].upper;
        upper = std::max<std::int64_t>(upper, place + 1);
      }
    }
  }
  return result;
}

}  // namespace reprise::detail
