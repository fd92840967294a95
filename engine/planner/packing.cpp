#include "planner/packing.hpp"

#include <algorithm>
#include <utility>

namespace reprise::detail {

void set_conflicts(PackProblem& problem,
                   std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
  problem.first_conflict.assign(problem.items.size() + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++problem.first_conflict[a + 1];
    ++problem.first_conflict[b + 1];
  }
  for (std::size_t i = 1; i < problem.first_conflict.size(); ++i)
    problem.first_conflict[i] += problem.first_conflict[i - 1];
  problem.conflicts.resize(2 * pairs.size());
  std::vector<std::uint32_t> next(problem.first_conflict.begin(), problem.first_conflict.end() - 1);
  for (const auto& [a, b] : pairs) {
    problem.conflicts[next[a]++] = b;
    problem.conflicts[next[b]++] = a;
  }
}

std::vector<std::uint64_t> clique_bytes(const PackProblem& problem) {
  // Differences between consecutive cliques, modulo 2^64; then prefix sums.
  std::vector<std::uint64_t> sums(problem.clique_count + std::size_t{1}, 0);
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    for (const IndexRange& range : problem.ranges_of(item)) {
      sums[range.begin] += problem.items[item].bytes;
      sums[range.end] -= problem.items[item].bytes;
    }
  }
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  sums.pop_back();
  return sums;
}

std::uint64_t clique_bound(const PackProblem& problem) {
  std::uint64_t max = 0;
  for (const std::uint64_t sum : clique_bytes(problem)) max = std::max(max, sum);
  for (const PackItem& item : problem.items) max = std::max(max, item.bytes);
  return max;
}

}  // namespace reprise::detail
