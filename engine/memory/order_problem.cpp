#include "memory/order_problem.hpp"

#include <algorithm>
#include <utility>

#include "planner/lifetime_cliques.hpp"

namespace reprise::detail {

PackProblem make_order_problem(const TransientUses& uses, const Precedence& precedence,
                               const MaxWeightAntichain& antichain) {
  PackProblem problem;
  std::vector<BufferLifetime> lifetimes;
  for (const std::uint32_t transient : precedence.transients) {
    const auto nodes = uses.uses_of(transient);
    problem.items.push_back({uses.transients[transient].bytes, 1});
    lifetimes.push_back(
        {nodes.front(), std::int64_t{nodes.back()} + 1, uses.transients[transient].bytes});
  }
  const LifetimeCliques cliques = find_cliques(lifetimes);
  problem.clique_count = cliques.count + 1;
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    problem.first_range.push_back(static_cast<std::uint32_t>(problem.ranges.size()));
    problem.ranges.push_back(cliques.ranges[item]);
    if (std::binary_search(antichain.members.begin(), antichain.members.end(), item)) {
      problem.ranges.push_back({cliques.count, cliques.count + 1});
    }
  }
  problem.first_range.push_back(static_cast<std::uint32_t>(problem.ranges.size()));

  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t later = 0; later < problem.size(); ++later) {
    for (std::uint32_t earlier = 0; earlier < later; ++earlier) {
      if (!precedence.precedes(earlier, later)) pairs.emplace_back(earlier, later);
    }
  }
  set_conflicts(problem, pairs);
  return problem;
}

}  // namespace reprise::detail
