#include "memory/order_problem.hpp"

#include <algorithm>
#include <utility>

#include "memory/lifetime_sections.hpp"

namespace reprise::detail {

OrderProblem make_order_problem(const TransientUses& uses, const UseOrder& order, const HeaviestSet& heaviest) {
  OrderProblem problem;
  std::vector<BufferLifetime> lifetimes;
  for (const std::uint32_t transient : uses.by_first_use) {
    if (uses.transients[transient].bytes == 0) continue;
    const auto nodes = uses.uses_of(transient);
    problem.transients.push_back(transient);
    problem.packing.items.push_back({uses.transients[transient].bytes, 1});
    lifetimes.push_back({nodes.front(), std::int64_t{nodes.back()} + 1, uses.transients[transient].bytes});
  }
  const LifetimeSections sections = find_sections(lifetimes);
  problem.packing.sections = sections.sections + 1;
  for (std::size_t i = 0; i < problem.transients.size(); ++i) {
    problem.packing.first_range.push_back(static_cast<std::uint32_t>(problem.packing.ranges.size()));
    problem.packing.ranges.push_back(sections.ranges[i]);
    if (std::binary_search(heaviest.members.begin(), heaviest.members.end(), problem.transients[i])) {
      problem.packing.ranges.push_back({sections.sections, sections.sections + 1});
    }
  }
  problem.packing.first_range.push_back(static_cast<std::uint32_t>(problem.packing.ranges.size()));

  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t b = 0; b < problem.transients.size(); ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
      const std::uint32_t first = problem.transients[a], second = problem.transients[b];
      if (!order.precedes(first, second) && !order.precedes(second, first)) pairs.emplace_back(a, b);
    }
  }
  set_conflicts(problem.packing, pairs);
  return problem;
}

}  // namespace reprise::detail
