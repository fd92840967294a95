#include "planner/ejection_descent.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/ejection_search.hpp"

namespace reprise::detail {

namespace {

constexpr double kLeastStride = 0.01;  // of what is above the target
constexpr std::uint64_t kHeights = 5;  // tried with the looks that there are, where none is reached
constexpr std::uint64_t kStepLooks = 24;  // what a step costs besides

}  // namespace

DescentHeights::DescentHeights(const PackProblem& problem, const DescentHeightsDesc& desc)
    : wish_(desc.wish), stride_(desc.stride), target_every_(desc.target_every) {
  std::uint64_t unit = 0;
  for (const PackItem& item : problem.items) {
    unit = std::gcd(unit, item.bytes);
    if (item.alignment != 1) unit = std::gcd(unit, item.alignment);
  }
  unit_ = std::max<std::uint64_t>(unit, 1);
  target_ = aligned_up(desc.target, unit_);
}

std::uint64_t DescentHeights::next(std::uint64_t best) {
  if (best <= target_) return best;
  if (target_ < wish_ && wish_ < best) return wish_;
  if (++tried_ % target_every_ == 0) return target_;
  const auto less = static_cast<std::uint64_t>(static_cast<double>(best - target_) * stride_);
  return std::max(target_, (best - std::max<std::uint64_t>(less, 1)) / unit_ * unit_);
}

void DescentHeights::tell_reached() { stride_ = std::min(0.5, 1.5 * stride_); }
void DescentHeights::tell_missed() {
  if (stride_ >= 2 * kLeastStride) {
    stride_ /= 2;
    return;
  }
  stride_ = 0.25;
  ++rounds_;
}

Packing descend_by_ejections(const PackProblem& problem, Packing first, const DescentDesc& desc) {
  const std::uint64_t looks_a_step =
      kStepLooks + 2 * problem.conflicts.size() / std::max(problem.size(), 1u);
  std::uint64_t left = desc.looks / looks_a_step;
  const std::uint64_t most = std::max<std::uint64_t>(left / kHeights, 1);
  DescentHeights heights(problem, {.target = desc.target, .stride = 0.5, .target_every = kHeights});
  EjectionSearch search(problem, desc.seed);
  while (left > 0) {
    const std::uint64_t height = heights.next(first.height);
    if (height >= first.height) break;
    search.begin(first, height);
    const std::uint64_t before = search.steps();
    if (search.run(std::min(left, most), nullptr)) {
      first = search.packing();
      heights.tell_reached();
    } else {
      heights.tell_missed();
    }
    left -= std::min(left, std::max<std::uint64_t>(search.steps() - before, 1));
  }
  return first;
}

}  // namespace reprise::detail
