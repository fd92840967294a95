#include "model/significance.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::model {

Comparison compare(const detail::DurationHistogram& a, const detail::DurationHistogram& b) {
  if (a.count() == 0 || b.count() == 0) return {};
  const auto in_a = a.buckets(), in_b = b.buckets();
  const double count_a = static_cast<double>(a.count()), count_b = static_cast<double>(b.count()),
               count = count_a + count_b;
  // Counts the pairs in which b is longer, and the reduction of the rank variance by ties. Both
  // histograms have the same bucket bounds.
  double longer = 0, ties = 0, a_before = 0;
  for (std::size_t i = 0, j = 0; i < in_a.size() || j < in_b.size();) {
    const bool has_a = j == in_b.size() || (i < in_a.size() && in_a[i].lowest <= in_b[j].lowest);
    const bool has_b = i == in_a.size() || (j < in_b.size() && in_b[j].lowest <= in_a[i].lowest);
    const double of_a = has_a ? static_cast<double>(in_a[i++].count) : 0,
                 of_b = has_b ? static_cast<double>(in_b[j++].count) : 0;
    longer += of_b * (a_before + of_a / 2);
    const double tied = of_a + of_b;
    ties += tied * tied * tied - tied;
    a_before += of_a;
  }
  Comparison result{1, longer / (count_a * count_b)};
  if (a.count() < kMinSamples || b.count() < kMinSamples) return result;
  const double variance = count_a * count_b / 12 * (count + 1 - ties / (count * (count - 1)));
  if (variance <= 0) return result;
  const double distance = std::max(0.0, std::abs(longer - count_a * count_b / 2) - 0.5);
  result.p = std::erfc(distance / std::sqrt(2 * variance));
  return result;
}

}  // namespace reprise::model
