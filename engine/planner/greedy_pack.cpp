#include "planner/greedy_pack.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/aligned_up.hpp"

namespace reprise::detail {

Packing GreedyPacker::pack(std::span<const std::uint32_t> order, FitRule rule) {
  Packing packing;
  packing.offsets.assign(problem_.size(), kUnplaced);
  for (const std::uint32_t item : order) {
    const PackItem& it = problem_.items[item];
    neighbours_.clear();
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      const std::uint64_t offset = packing.offsets[other];
      if (offset != kUnplaced)
        neighbours_.push_back({offset, offset + problem_.items[other].bytes});
    }
    std::sort(neighbours_.begin(), neighbours_.end());
    std::uint64_t top = 0, best = kUnplaced, min_gap = kUnplaced;
    for (const Placed& placed : neighbours_) {
      if (placed.begin >= top && placed.begin - top >= it.bytes && placed.begin - top < min_gap) {
        best = top;
        min_gap = placed.begin - top;
        if (rule == FitRule::FirstFit) break;
      }
      top = std::max(top, aligned_up(placed.end, it.alignment));
    }
    if (best == kUnplaced) best = top;
    packing.offsets[item] = best;
    packing.peak_bytes = std::max(packing.peak_bytes, best + it.bytes);
  }
  return packing;
}

namespace {

// The lifetime of the item in cliques.
std::uint64_t lifetime_of(const PackProblem& problem, std::uint32_t item) {
  std::uint64_t lifetime = 0;
  for (const IndexRange& range : problem.ranges_of(item)) lifetime += range.end - range.begin;
  return lifetime;
}

// The size of the largest clique that contains the item. `sums` are the clique_bytes() of the
// problem.
std::uint64_t max_clique_of(const PackProblem& problem, const std::vector<std::uint64_t>& sums,
                            std::uint32_t item) {
  std::uint64_t max = 0;
  for (const IndexRange& range : problem.ranges_of(item)) {
    for (std::uint32_t clique = range.begin; clique < range.end; ++clique)
      max = std::max(max, sums[clique]);
  }
  return max;
}

double bytes_in_conflict(const PackProblem& problem, std::uint32_t item) {
  double bytes = 0;
  for (const std::uint32_t other : problem.conflicts_of(item))
    bytes += static_cast<double>(problem.items[other].bytes);
  return bytes;
}

}  // namespace

std::vector<std::uint32_t> pack_order(const PackProblem& problem, std::uint32_t index) {
  const std::vector<std::uint64_t> sums = clique_bytes(problem);
  std::vector<double> first(problem.size()), second(problem.size());
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    const auto bytes = static_cast<double>(problem.items[item].bytes);
    const auto lifetime = static_cast<double>(lifetime_of(problem, item));
    const auto fullest =
        static_cast<double>(index == 1 || index == 4 ? max_clique_of(problem, sums, item) : 0);
    switch (index % kPackOrders) {
      case 0: first[item] = bytes, second[item] = lifetime; break;
      case 1: first[item] = fullest, second[item] = lifetime * bytes; break;
      case kByLifetime: first[item] = lifetime, second[item] = bytes; break;
      case 3: first[item] = bytes * lifetime, second[item] = lifetime; break;
      case 4: first[item] = fullest, second[item] = lifetime; break;
      case kByConflicts:
        first[item] = bytes * bytes_in_conflict(problem, item), second[item] = lifetime;
        break;
    }
  }
  std::vector<std::uint32_t> order(problem.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return first[a] != first[b] ? first[a] > first[b] : second[a] > second[b];
  });
  return order;
}

Packing best_greedy(const PackProblem& problem, std::uint64_t target, std::uint64_t max_packings) {
  GreedyPacker packer(problem);
  Packing best;
  best.peak_bytes = kUnplaced;
  std::uint64_t packings = 0;
  for (const FitRule rule : {FitRule::FirstFit, FitRule::BestFit}) {
    for (std::uint32_t i = 0; i < kPackOrders; ++i) {
      const std::uint32_t index = (kByConflicts + i) % kPackOrders;
      Packing packing = packer.pack(pack_order(problem, index), rule);
      if (packing.peak_bytes < best.peak_bytes) best = std::move(packing);
      if (best.peak_bytes <= target || ++packings >= max_packings) return best;
    }
  }
  return best;
}

}  // namespace reprise::detail
