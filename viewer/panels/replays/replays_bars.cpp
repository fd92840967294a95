#include "panels/replays/replays_bars.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

std::size_t bar_length(const ReplaySeries& series, double zoom) {
  std::size_t count = 1;
  while (static_cast<double>(count) * zoom < 1 && count < series.size()) count *= 2;
  return count;
}

std::vector<ReplayBar> replay_bars(const ReplaySeries& series, double left, double right,
                                   double zoom) {
  std::vector<ReplayBar> bars;
  const double size = static_cast<double>(series.size());
  if (series.size() == 0 || !(zoom > 0) || !(right > 0) || !(left < size)) return bars;
  const std::size_t count = bar_length(series, zoom);
  const auto first = static_cast<std::size_t>(std::floor(std::max(left, 0.0))) / count * count;
  const auto last = static_cast<std::size_t>(std::ceil(std::min(right, size)));
  for (std::size_t at = first; at < last; at += count) {
    const std::size_t end = std::min(at + count, series.size());
    bars.push_back({at, end, series.run(at, end)});
  }
  return bars;
}

double StripAxis::position(double time) const noexcept {
  if (!(time > 0)) return 0;
  if (is_linear()) return std::min(time / top, 1.0);
  if (time <= knee) return time / knee / 2;
  return std::min(0.5 + std::log(time / knee) / std::log(top / knee) / 2, 1.0);
}

StripAxis strip_axis(trace::Time max, trace::Time median, trace::Time p99, trace::Time fence) {
  const double all = 1.08 * static_cast<double>(std::max<trace::Time>(max, 1));
  if (median <= 0) return {all, all};
  const double middle = static_cast<double>(median);
  const double without_outliers = std::max(
      {2.2 * middle, 1.15 * static_cast<double>(p99), 1.1 * static_cast<double>(fence), 1.0});
  const double top = std::min(all, without_outliers);
  return {top > 4 * middle ? 2 * middle : top, top};
}

}  // namespace reprise::viewer
