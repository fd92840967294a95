// Fields of CSV files. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// A text as a field: quoted if RFC 4180 requires it. A spreadsheet would execute a text that starts
// like a formula; an apostrophe makes it a text.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  const bool is_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  const std::string plain = (is_formula ? "'" : "") + std::string(text);
  if (plain.find_first_of("\",\r\n") == std::string::npos) return plain;
  std::string quoted = "\"";
  for (const char c : plain) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace reprise::detail
