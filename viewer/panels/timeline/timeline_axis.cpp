#include "panels/timeline/timeline_axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace reprise::viewer {

double round_step(double from, double to, double max_ticks, double min_step) {
  const double raw = std::max((to - from) / std::max(max_ticks, 1.0), min_step);
  if (!(raw > 0) || !std::isfinite(raw)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string tick_text(double tick, double step, double largest) {
  if (std::abs(tick) < step * 1e-6) return "0";
  const double magnitude = std::abs(largest);
  const double unit = magnitude >= 1e9 ? 1e9 : magnitude >= 1e6 ? 1e6 : magnitude >= 1e3 ? 1e3 : 1;
  const char* const name = unit == 1e9 ? "s" : unit == 1e6 ? "ms" : unit == 1e3 ? "us" : "ns";
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)), 0, 9);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", digits, tick / unit, name);
  return text;
}

std::vector<double> round_ticks(double from, double to, double step) {
  std::vector<double> ticks;
  if (!(step > 0) || !(to >= from) || (to - from) / step > 10000) return ticks;
  const auto first = static_cast<long long>(std::ceil(from / step - 1e-9)),
             last = static_cast<long long>(std::floor(to / step + 1e-9));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

}  // namespace reprise::viewer
