#include "cli/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace reprise::cli {

namespace {

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// The number of UTF-8 characters.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Inserts thousands separators into the integer fraction of a formatted number.
std::string separated(std::string number) {
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

}  // namespace

std::string with_separators(std::uint64_t value) { return separated(std::to_string(value)); }

std::string microseconds(double ns) { return separated(fixed(ns / 1e3, 3)); }

std::string duration(double ns) {
  if (std::abs(ns) >= 1e9) return separated(fixed(ns / 1e9, 3)) + " s";
  if (std::abs(ns) >= 1e6) return fixed(ns / 1e6, 3) + " ms";
  if (std::abs(ns) >= 1e3) return fixed(ns / 1e3, 3) + " us";
  return fixed(ns, 0) + " ns";
}

std::string bytes(std::uint64_t value) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (value < 1024) return std::to_string(value) + " B";
  double scaled = static_cast<double>(value) / 1024;
  std::size_t unit = 0;
  while (scaled >= 1024 && unit + 1 < std::size(kUnits)) {
    scaled /= 1024;
    ++unit;
  }
  return fixed(scaled, 1) + " " + kUnits[unit];
}

std::string percent(double fraction) { return fixed(fraction * 100, 1) + " %"; }

std::string signed_percent(double fraction) {
  return (fraction < 0 ? "" : "+") + fixed(fraction * 100, 1) + " %";
}

std::string counted(std::uint64_t count, const std::string& singular) {
  return with_separators(count) + " " + singular + (count == 1 ? "" : "s");
}

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string printable(const std::string& text) {
  std::string shown = text;
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return shown;
}

Table::Table(std::size_t left, std::vector<std::string> header) : left_(left) {
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      line += "  " + (i < left_ ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace reprise::cli
