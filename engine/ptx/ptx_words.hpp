// Scans the names in PTX text. Knows no instruction. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace reprise::detail {

[[nodiscard]] constexpr bool is_ptx_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
[[nodiscard]] constexpr bool is_ptx_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_ptx_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_ptx_digit(c) || c == '_' ||
         c == '$' || c == '%';
}

[[nodiscard]] constexpr std::string_view trim_ptx(std::string_view text) noexcept {
  while (!text.empty() && is_ptx_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ptx_space(text.back())) text.remove_suffix(1);
  return text;
}

// The name, the register or the number with which `text` starts. A percent sign only starts one.
[[nodiscard]] constexpr std::string_view first_ptx_word(std::string_view text) noexcept {
  std::size_t end = text.starts_with('%') ? 1 : 0;
  while (end < text.size() && is_ptx_word(text[end]) && text[end] != '%') ++end;
  return text.substr(0, end);
}

// Calls `visit` with each name and register. Skips numbers, and what follows a dot: modifiers and
// the components of %tid and the like.
template <class Visit>
void for_each_ptx_word(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = first_ptx_word(text.substr(at));
    if (word.empty()) {
      ++at;
      continue;
    }
    if (!is_ptx_digit(word.front()) && (at == 0 || text[at - 1] != '.')) visit(word);
    at += word.size();
  }
}

// An integer literal without a sign that is all of `text`: hexadecimal after 0x, octal after 0,
// binary after 0b, else decimal, each with or without the suffix U. Empty: it is none, or has more
// than 64 bits.
[[nodiscard]] constexpr std::optional<std::uint64_t> parse_ptx_number(
    std::string_view text) noexcept {
  if (text.ends_with('U')) text.remove_suffix(1);
  std::uint64_t base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2;
  } else if (text.starts_with('0')) {
    base = 8;
  }
  if (base == 16 || base == 2) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = is_ptx_digit(c)        ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 16;
    const auto next = static_cast<std::uint64_t>(digit);
    if (next >= base || value > (std::numeric_limits<std::uint64_t>::max() - next) / base)
      return std::nullopt;
    value = value * base + next;
  }
  return value;
}

// Whether an opcode is `prefix` or continues it after a dot.
[[nodiscard]] constexpr bool is_ptx_opcode(std::string_view opcode,
                                           std::string_view prefix) noexcept {
  return opcode.starts_with(prefix) &&
         (opcode.size() == prefix.size() || opcode[prefix.size()] == '.' ||
          opcode[prefix.size()] == ':');
}
// Whether an opcode has a modifier, which starts with a dot.
[[nodiscard]] constexpr bool has_ptx_modifier(std::string_view opcode,
                                              std::string_view modifier) noexcept {
  for (std::size_t at = opcode.find(modifier); at != std::string_view::npos;
       at = opcode.find(modifier, at + 1)) {
    const std::size_t end = at + modifier.size();
    if (end == opcode.size() || !is_ptx_word(opcode[end])) return true;
  }
  return false;
}

}  // namespace reprise::detail
