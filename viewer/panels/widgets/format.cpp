#include "panels/widgets/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace reprise::viewer {

namespace {

struct Unit {
  double size;
  const char* name;
};
constexpr std::array<Unit, 4> kTimes = {{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};

// "1234567.5" -> "1,234,567.5".
std::string separated(std::string digits) {
  const std::size_t start = digits.find_first_of("0123456789");
  std::size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  for (std::size_t at = end; at > start + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return separated(text.data());
}

// The number of decimals with which a positive value shows about four significant digits.
int decimals_of(double value) { return value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0; }

std::string time_text(double magnitude) {
  if (magnitude < 999.5)
    return fixed(magnitude, magnitude < 10 && magnitude != std::floor(magnitude) ? 1 : 0) + " ns";
  std::size_t unit = 1;
  while (unit + 1 < kTimes.size() && magnitude / kTimes[unit].size >= 999.95) ++unit;
  const double value = magnitude / kTimes[unit].size;
  return fixed(value, decimals_of(value)) + " " + kTimes[unit].name;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string duration_text(double nanoseconds) {
  if (!std::isfinite(nanoseconds)) return "?";
  return (nanoseconds <= -0.05 ? "-" : "") + time_text(std::abs(nanoseconds));
}

std::string duration_text(double nanoseconds, double largest) {
  if (!std::isfinite(nanoseconds)) return "?";
  const double max = std::abs(largest);
  std::size_t unit = 0;
  while (unit + 1 < kTimes.size() && max >= kTimes[unit + 1].size) ++unit;
  const int decimals = unit == 0 ? 0 : max / kTimes[unit].size < 100 ? 3 : 2;
  return fixed(nanoseconds / kTimes[unit].size, decimals) + " " + kTimes[unit].name;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && value >= 1023.5) value /= 1024, ++unit;
  std::string text = fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text + " " + kUnits[unit];
}

std::string bytes_change_text(std::int64_t bytes) {
  const auto magnitude = static_cast<std::uint64_t>(bytes);
  return bytes < 0 ? "-" + bytes_text(~magnitude + 1) : bytes_text(magnitude);
}

std::string count_text(std::uint64_t count) { return separated(std::to_string(count)); }

std::string counted_text(std::uint64_t count, const char* one) {
  return count_text(count) + " " + one + (count == 1 ? "" : "s");
}

std::string rate_text(double per_second) {
  if (!std::isfinite(per_second)) return "?";
  return fixed(per_second, per_second < 1 ? 2 : per_second < 99.95 ? 1 : 0);
}

std::string percent_text(double part) {
  if (!std::isfinite(part)) return "?";
  if (part > 0 && part < 0.0005) return "<0.1 %";
  return fixed(part * 100, 1) + " %";
}

std::string change_text(double part) {
  if (!std::isfinite(part)) return "?";
  const double percent = part * 100, ratio = part + 1;
  if (ratio > 10) return "x " + fixed(ratio, ratio < 99.95 ? 1 : 0);
  if (std::abs(percent) < 0.05) return "0.0 %";
  return (percent > 0 ? "+" : "-") + fixed(std::abs(percent), 1) + " %";
}

std::string shortened(const std::string& text, std::size_t length) {
  const auto characters =
      static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
  if (characters <= length) return text;
  const auto first = [&](std::size_t count) {  // size in bytes of the first `count` characters
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
      if (starts_character(text[at]) && count-- == 0) break;
    }
    return at;
  };
  if (length <= 3) return text.substr(0, first(length));
  const std::size_t kept = length - 3, head = (kept + 1) / 2, tail = kept - head;
  return text.substr(0, first(head)) + "..." + text.substr(first(characters - tail));
}

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

}  // namespace reprise::viewer
