#include "panels/widgets/axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

struct AxisUnit {
  double size;
  const char* name;
};

// The largest unit, of ascending ones, that is not above `largest`.
template <class Units>
AxisUnit unit_of(const Units& units, double largest) {
  AxisUnit unit = units[0];
  for (const AxisUnit& u : units) {
    if (largest >= u.size) unit = u;
  }
  return unit;
}

std::string number_text(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

template <class Text>
std::vector<AxisTick> ticks(double first, double last, double step, const Text& text) {
  std::vector<AxisTick> all;
  if (!(last > first)) return all;
  for (const double at : round_ticks(first, last, step)) all.push_back({at, text(at)});
  return all;
}

}  // namespace

std::vector<AxisTick> count_ticks(double first, double last, int max_ticks) {
  return ticks(first, last, round_step(first, last, max_ticks, 1), [](double at) {
    return at < 0 ? "-" + count_text(static_cast<std::uint64_t>(-at))
                  : count_text(static_cast<std::uint64_t>(at));
  });
}

std::vector<AxisTick> byte_ticks(double first, double last, int max_ticks) {
  static constexpr AxisUnit kUnits[] = {
      {1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}};
  const AxisUnit unit = unit_of(kUnits, std::max(std::abs(first), std::abs(last)));
  const double min_step = (last - first) / std::max(max_ticks, 1);
  const double step = min_step > 1 ? std::exp2(std::ceil(std::log2(min_step))) : 1;
  // The min number of decimals that distinguishes adjacent ticks.
  int decimals = 0;
  for (double rest = step / unit.size; decimals < 6 && std::abs(rest - std::round(rest)) > 1e-6;
       rest *= 10)
    ++decimals;
  return ticks(first, last, step,
               [&](double at) { return number_text(at / unit.size, decimals) + " " + unit.name; });
}

std::vector<AxisTick> time_ticks(double first, double last, int max_ticks) {
  const double step = round_step(first, last, max_ticks, 1);
  const double largest = std::max(std::abs(first), std::abs(last));
  return ticks(first, last, step, [&](double at) { return tick_text(at, step, largest); });
}

double round_step(double from, double to, double max_ticks, double min_step) {
  const double raw = std::max((to - from) / std::max(max_ticks, 1.0), min_step);
  if (!(raw > 0) || !std::isfinite(raw)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> round_ticks(double from, double to, double step) {
  std::vector<double> ticks;
  if (!(step > 0) || !(to >= from) || (to - from) / step > 10000) return ticks;
  const auto first = static_cast<long long>(std::ceil(from / step - 1e-9)),
             last = static_cast<long long>(std::floor(to / step + 1e-9));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

std::int64_t top_of_scale(std::vector<std::int64_t> values) {
  constexpr std::size_t kFew = 10;  // all of them are worth seeing
  const std::int64_t max = *std::max_element(values.begin(), values.end());
  if (values.size() <= kFew) return max;
  const auto usual = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 19 / 20);
  std::nth_element(values.begin(), usual, values.end());
  return *usual > 0 && max > 3 * *usual ? *usual * 3 / 2 : max;
}

std::string tick_text(double tick, double step, double largest) {
  static constexpr AxisUnit kUnits[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  if (std::abs(tick) < step * 1e-6) return "0";
  const AxisUnit unit = unit_of(kUnits, std::abs(largest));
  const int digits =
      std::clamp(static_cast<int>(std::ceil(-std::log10(step / unit.size) - 1e-9)), 0, 9);
  return number_text(tick / unit.size, digits) + " " + unit.name;
}

}  // namespace reprise::viewer
