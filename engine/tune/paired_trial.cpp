#include "tune/paired_trial.hpp"

#include <algorithm>
#include <span>

namespace reprise::detail {

namespace {

// Bounds of the interval of time ratios to the baseline.
constexpr double kSlower = 1.02;       // drop a candidate whose interval lies above
constexpr double kWorthwhile = 0.995;  // a winner's interval lies below

}  // namespace

void PairedTrial::run(const Desc& desc) {
  const auto count = static_cast<std::uint32_t>(candidates_.size());
  for (std::uint32_t round = 0; round < desc.rounds; ++round) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = (round + i) % count;
      if (!candidates_[at].is_in()) continue;
      if (desc.is_over && desc.is_over()) return;
      candidates_[at].times.push_back(desc.measure(at));
    }
    if (round + 1 < kMinRounds) continue;
    for (std::uint32_t i = 1; i < count; ++i) {
      if (candidates_[i].is_in() && ratio(i).low > kSlower) drop(i, "significantly slower");
    }
  }
}

RatioInterval PairedTrial::ratio(std::uint32_t candidate) const {
  const auto& ours = candidates_[candidate].times;
  const auto& theirs = candidates_[0].times;
  const std::size_t pairs = std::min(ours.size(), theirs.size());
  return ratio_interval(std::span(ours).first(pairs), std::span(theirs).first(pairs));
}

std::uint32_t PairedTrial::winner() const {
  std::uint32_t best = 0;
  double best_ratio = 1;
  for (std::uint32_t i = 1; i < candidates_.size(); ++i) {
    if (!candidates_[i].is_in() ||
        std::min(candidates_[i].times.size(), candidates_[0].times.size()) < kMinRounds)
      continue;
    const RatioInterval of = ratio(i);
    if (of.high >= kWorthwhile || of.median >= best_ratio) continue;
    best = i;
    best_ratio = of.median;
  }
  return best;
}

}  // namespace reprise::detail
