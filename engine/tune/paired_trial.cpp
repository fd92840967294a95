#include "tune/paired_trial.hpp"

#include <algorithm>
#include <span>

namespace reprise::detail {

namespace {

constexpr double kSlower = 1.02;       // from here on the whole interval is no match
constexpr double kWorthwhile = 0.995;  // up to here it is

}  // namespace

void PairedTrial::run(const Desc& desc) {
  const auto count = static_cast<std::uint32_t>(contestants_.size());
  for (std::uint32_t round = 0; round < desc.rounds; ++round) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = (round + i) % count;
      if (!contestants_[at].is_in()) continue;
      if (Clock::now() > desc.until) return;
      contestants_[at].times.push_back(desc.measure(at));
    }
    if (round + 1 < kLeastRounds) continue;
    for (std::uint32_t i = 1; i < count; ++i) {
      if (contestants_[i].is_in() && ratio(i).low > kSlower) drop(i, "slower beyond doubt");
    }
  }
}

RatioInterval PairedTrial::ratio(std::uint32_t contestant) const {
  const auto& ours = contestants_[contestant].times;
  const auto& theirs = contestants_[0].times;
  const std::size_t pairs = std::min(ours.size(), theirs.size());
  return ratio_interval(std::span(ours).first(pairs), std::span(theirs).first(pairs));
}

std::uint32_t PairedTrial::winner() const {
  std::uint32_t best = 0;
  double best_ratio = 1;
  for (std::uint32_t i = 1; i < contestants_.size(); ++i) {
    if (!contestants_[i].is_in() ||
        std::min(contestants_[i].times.size(), contestants_[0].times.size()) < kLeastRounds)
      continue;
    const RatioInterval of = ratio(i);
    if (of.high >= kWorthwhile || of.median >= best_ratio) continue;
    best = i;
    best_ratio = of.median;
  }
  return best;
}

}  // namespace reprise::detail
