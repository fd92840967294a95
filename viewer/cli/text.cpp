#include "cli/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace reprise::cli {

namespace {

// Max width of a column, in characters. A longer cell is complete, but its row is not aligned.
constexpr std::size_t kMaxWidth = 256;

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

std::string signed_microseconds(double ns) {
  return (ns < 0 ? "-" : "+") + microseconds(std::abs(ns));
}

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

void write_out(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(again);
  va_end(arguments);
  text.pop_back();
  std::fputs(detail::printable_lines(text).c_str(), stdout);
}

void report_written(const std::string& output, const std::string& text) {
  struct stat written {};
  struct stat shown {};
  const bool is_stdout = ::stat(output.c_str(), &written) == 0 &&
                         ::fstat(STDOUT_FILENO, &shown) == 0 && written.st_dev == shown.st_dev &&
                         written.st_ino == shown.st_ino;
  if (is_stdout) {
    print_message({output, ": ", text});
  } else {
    write_out("%s: %s\n", printable(output).c_str(), text.c_str());
  }
}

Table::Table(std::size_t left, std::vector<std::string> header) : left_(left) {
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

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
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::clamp(width(row[i]), widths[i], kMaxWidth);
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - std::min(width(row[i]), widths[i]), ' ');
      line += "  " + (i < left_ ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace reprise::cli
