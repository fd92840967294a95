// Formats numbers and tables for the command line, as plain text without colours. Knows no trace.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/shown_text.hpp"

namespace reprise::cli {

// "1,234,567"
[[nodiscard]] std::string with_separators(std::uint64_t value);
// Nanoseconds, in microseconds: "1,234.567".
[[nodiscard]] std::string microseconds(double ns);
// A duration with the appropriate unit: "1.234 s", "56.700 ms".
[[nodiscard]] std::string duration(double ns);
// "12.3 MiB", "512 B"
[[nodiscard]] std::string bytes(std::uint64_t value);
// 0.1234: "12.3 %"
[[nodiscard]] std::string percent(double fraction);
// 1500: "+1.500"
[[nodiscard]] std::string signed_microseconds(double ns);
// 0.0213: "+2.1 %"
[[nodiscard]] std::string signed_percent(double fraction);
// "1,234 replays", "1 replay"
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& singular);
// 16 digits
[[nodiscard]] std::string hex(std::uint64_t value);
// Within one line; write_out() alone lets line breaks pass.
using detail::print_message;  // to stderr
using detail::printable;

// printf() to stdout, for all output of the commands: names from a trace cannot control a terminal.
[[gnu::format(printf, 1, 2)]] void write_out(const char* format, ...);

// Reports what the file `output` contains; to stderr if that is stdout, whose contents others read.
void report_written(const std::string& output, const std::string& text);

// A text table.
class Table {
 public:
  // The first `left` columns are left-aligned; the others are right-aligned numbers.
  Table(std::size_t left, std::vector<std::string> header);
  void add(std::vector<std::string> row);  // replaces control characters
  // Removes the columns whose cells are all `absent`.
  void remove_columns(const std::string& absent);
  [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }
  // Lines start with two spaces and have no trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;  // [0] is the header
};

}  // namespace reprise::cli
