// Whether two sets of durations differ by more than chance: the Mann-Whitney U test, two-sided, by
// its normal approximation with continuity and tie correction. It assumes nothing of how durations
// are distributed. It takes samples to be independent, which those of one run are only nearly: read
// a small p as "worth a look". It works on the buckets of DurationHistogram, which count as ties.
// Knows no trace. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/log_histogram.hpp"

namespace reprise::model {

struct Comparison {
  double p = 1;  // of a difference as large, if there were none
  double b_is_longer =
      0.5;  // the chance that a duration out of b is longer than one out of a (ties count half)
};

// With fewer in either, the approximation says nothing: p is 1.
inline constexpr std::uint64_t kLeastSamples = 8;

// A difference counts if its p, times the number of such differences that were looked at together
// (Bonferroni), is below this.
inline constexpr double kSignificanceLevel = 0.01;
[[nodiscard]] constexpr bool is_significant(double p, std::size_t compared) {
  return p * static_cast<double>(compared == 0 ? 1 : compared) < kSignificanceLevel;
}

[[nodiscard]] Comparison compare(const detail::DurationHistogram& a,
                                 const detail::DurationHistogram& b);

}  // namespace reprise::model
