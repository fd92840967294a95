#include "panels/memory/memory_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

// The smallest of 1, 2, 5, 10, 20, ... that gives at most `max_ticks` steps in `length`.
double decimal_step(double length, int max_ticks) {
  const double min_step = length / std::max(max_ticks, 1);
  if (!(min_step > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(min_step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= min_step) return power * factor;
  }
  return power * 10;
}

double binary_step(double length, int max_ticks) {
  const double min_step = length / std::max(max_ticks, 1);
  return min_step > 1 ? std::exp2(std::ceil(std::log2(min_step))) : 1;
}

// Uses the fewest decimals that distinguish adjacent ticks.
std::string number_text(double value, double step) {
  int decimals = 0;
  for (double remainder = step; decimals < 6 && std::abs(remainder - std::round(remainder)) > 1e-6;
       remainder *= 10)
    ++decimals;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

template <class Text>
std::vector<AxisTick> ticks(double first, double last, double step, Text text) {
  std::vector<AxisTick> all;
  if (!(last > first) || !(step > 0)) return all;
  // Far from 0, where adding 1 may change nothing, the number of ticks still ends the loop.
  const double begin = std::ceil(first / step), count = std::floor(last / step) - begin;
  for (int i = 0; i <= count; ++i) {
    const double at = (begin + i) * step + 0.0;  // no -0
    all.push_back({at, text(at)});
  }
  return all;
}

struct AxisUnit {
  double size;
  const char* name;
};

template <std::size_t n>
AxisUnit unit_of(const std::array<AxisUnit, n>& units, double largest) {
  AxisUnit unit = units[0];
  for (const AxisUnit& u : units) {
    if (largest >= u.size) unit = u;
  }
  return unit;
}

}  // namespace

std::vector<AxisTick> count_ticks(double first, double last, int max_ticks) {
  return ticks(first, last, std::max(1.0, decimal_step(last - first, max_ticks)), [](double at) {
    return at < 0 ? "-" + count_text(static_cast<std::uint64_t>(-at))
                  : count_text(static_cast<std::uint64_t>(at));
  });
}

std::vector<AxisTick> byte_ticks(double first, double last, int max_ticks) {
  static constexpr std::array<AxisUnit, 5> kUnits{
      {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}}};
  const AxisUnit unit = unit_of(kUnits, std::max(std::abs(first), std::abs(last)));
  const double step = binary_step(last - first, max_ticks);
  return ticks(first, last, step, [&](double at) {
    return number_text(at / unit.size, step / unit.size) + " " + unit.name;
  });
}

std::vector<AxisTick> time_ticks(double first, double last, int max_ticks) {
  static constexpr std::array<AxisUnit, 4> kUnits{
      {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  const AxisUnit unit = unit_of(kUnits, std::max(std::abs(first), std::abs(last)));
  const double step = std::max(1.0, decimal_step(last - first, max_ticks));
  return ticks(first, last, step, [&](double at) {
    return number_text(at / unit.size, step / unit.size) + " " + unit.name;
  });
}

}  // namespace reprise::viewer
