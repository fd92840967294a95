#include "cli/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
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

namespace {

// The bytes of the UTF-8 sequence at the start of `text`; 0: it is invalid.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// C0, DEL and, as UTF-8, C1.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = sequence_length(rest);
    const std::string_view sequence = rest.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(sequence)) {
      shown += '?';
    } else {
      shown += sequence;
    }
    rest.remove_prefix(sequence.size());
  }
  return shown;
}

Table::Table(std::size_t left, std::vector<std::string> header) : left_(left) {
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

void Table::remove_columns(const std::string& absent) {
  for (std::size_t column = rows_.front().size(); column-- > left_;) {
    if (std::any_of(rows_.begin() + 1, rows_.end(),
                    [&](const auto& row) { return row[column] != absent; }))
      continue;
    for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

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
