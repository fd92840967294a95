#include "base/paired_ratios.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::detail {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

RatioInterval ratio_interval(std::span<const double> numerators,
                             std::span<const double> denominators) {
  std::vector<double> ratios;
  ratios.reserve(numerators.size());
  for (std::size_t i = 0; i < std::min(numerators.size(), denominators.size()); ++i)
    ratios.push_back(numerators[i] / denominators[i]);
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  // The number of values below the median is binomial; its 95 % interval is n / 2 +- 0.98 *
  // sqrt(n). The zero-based index of the lower bound is one less.
  const double n = static_cast<double>(ratios.size());
  const auto below =
      static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - 0.98 * std::sqrt(n)) - 1));
  return {median_of(ratios), ratios[below], ratios[ratios.size() - 1 - below]};
}

}  // namespace reprise::detail
