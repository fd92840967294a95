// Tests whether two sets of durations differ by more than chance: two-sided Mann-Whitney U test, by
// the normal approximation with continuity and tie corrections. The test makes no assumption about
// the distribution. It assumes independent samples, which those of one run only approximate: treat
// a small p as a hint. Durations in one DurationHistogram bucket count as ties. Knows no trace.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/duration_histogram.hpp"

namespace reprise::model {

struct Comparison {
  double p = 1;  // probability of a difference at least this large under the null hypothesis
  // probability that a duration from b exceeds one from a; ties count half
  double b_is_longer = 0.5;
};

// With fewer samples on either side the approximation is invalid and p is 1.
inline constexpr std::uint64_t kMinSamples = 8;

// A difference is significant if p, multiplied by the number of simultaneous comparisons
// (Bonferroni), is below this level.
inline constexpr double kSignificanceLevel = 0.01;
[[nodiscard]] constexpr bool is_significant(double p, std::size_t compared) {
  return p * static_cast<double>(compared == 0 ? 1 : compared) < kSignificanceLevel;
}

[[nodiscard]] Comparison compare(const detail::DurationHistogram& a,
                                 const detail::DurationHistogram& b);

}  // namespace reprise::model
