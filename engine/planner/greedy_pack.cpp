#include "planner/greedy_pack.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace reprise::detail {

Packing GreedyPacker::pack(std::span<const std::uint32_t> order, GapRule rule,
                           const std::vector<std::uint64_t>* kept) {
  Packing packing;
  if (kept != nullptr) {
    packing.offsets = *kept;
    for (std::uint32_t item = 0; item < problem_.size(); ++item) {
      if (packing.offsets[item] != kUnplaced)
        packing.height =
            std::max(packing.height, packing.offsets[item] + problem_.items[item].bytes);
    }
  } else {
    packing.offsets.assign(problem_.size(), kUnplaced);
  }
  for (const std::uint32_t item : order) {
    const PackItem& it = problem_.items[item];
    around_.clear();
    for (const std::uint32_t other : problem_.conflicts_of(item)) {
      const std::uint64_t offset = packing.offsets[other];
      if (offset != kUnplaced) around_.push_back({offset, offset + problem_.items[other].bytes});
    }
    std::sort(around_.begin(), around_.end());
    std::uint64_t at = 0, best = kUnplaced, least = kUnplaced;
    for (const Placed& placed : around_) {
      if (placed.begin >= at && placed.begin - at >= it.bytes && placed.begin - at < least) {
        best = at;
        least = placed.begin - at;
        if (rule == GapRule::Lowest) break;
      }
      at = std::max(at, aligned_up(placed.end, it.alignment));
    }
    if (best == kUnplaced) best = at;
    packing.offsets[item] = best;
    packing.height = std::max(packing.height, best + it.bytes);
  }
  return packing;
}

namespace {

std::uint64_t width_of(const PackProblem& problem, std::uint32_t item) {
  std::uint64_t width = 0;
  for (const IndexRange& range : problem.ranges_of(item)) width += range.end - range.begin;
  return width;
}

// The most bytes of a section that the item is in.
std::uint64_t fullest_around(const PackProblem& problem, const std::vector<std::uint64_t>& sums,
                             std::uint32_t item) {
  std::uint64_t most = 0;
  for (const IndexRange& range : problem.ranges_of(item)) {
    for (std::uint32_t section = range.begin; section < range.end; ++section)
      most = std::max(most, sums[section]);
  }
  return most;
}

double bytes_in_conflict(const PackProblem& problem, std::uint32_t item) {
  double bytes = 0;
  for (const std::uint32_t other : problem.conflicts_of(item))
    bytes += static_cast<double>(problem.items[other].bytes);
  return bytes;
}

}  // namespace

std::vector<std::uint32_t> pack_order(const PackProblem& problem, std::uint32_t number) {
  const std::vector<std::uint64_t> sums = section_bytes(problem);
  std::vector<double> first(problem.size()), second(problem.size());
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    const auto bytes = static_cast<double>(problem.items[item].bytes);
    const auto width = static_cast<double>(width_of(problem, item));
    const auto full =
        static_cast<double>(number == 1 || number == 4 ? fullest_around(problem, sums, item) : 0);
    switch (number % kPackOrders) {
      case 0: first[item] = bytes, second[item] = width; break;
      case 1: first[item] = full, second[item] = width * bytes; break;
      case kBySections: first[item] = width, second[item] = bytes; break;
      case 3: first[item] = bytes * width, second[item] = width; break;
      case 4: first[item] = full, second[item] = width; break;
      case kByConflicts:
        first[item] = bytes * bytes_in_conflict(problem, item), second[item] = width;
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

Packing best_greedy(const PackProblem& problem, std::uint64_t target, std::uint64_t most_packings) {
  GreedyPacker packer(problem);
  Packing best;
  best.height = kUnplaced;
  std::uint64_t packings = 0;
  for (const GapRule rule : {GapRule::Lowest, GapRule::Tightest}) {
    for (std::uint32_t i = 0; i < kPackOrders; ++i) {
      const std::uint32_t number = (kByConflicts + i) % kPackOrders;
      Packing packing = packer.pack(pack_order(problem, number), rule);
      if (packing.height < best.height) best = std::move(packing);
      if (best.height <= target || ++packings >= most_packings) return best;
    }
  }
  return best;
}

}  // namespace reprise::detail
