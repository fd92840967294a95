#include "base/shown_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {

namespace {

unsigned byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The code point at the start of a text.
struct Character {
  std::size_t bytes = 1;
  bool is_valid = false;
  char32_t code = 0;
};

Character first_character(std::string_view text) {
  const unsigned lead = byte(text, 0);
  if (lead < 0x80) return {1, true, lead};
  const std::size_t bytes = lead < 0xc2   ? 0
                            : lead < 0xe0 ? 2
                            : lead < 0xf0 ? 3
                            : lead < 0xf5 ? 4
                                          : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(text, i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(text, i) & 0x3f);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < kSmallest[bytes] || code > 0x10ffff || is_surrogate ? Character{}
                                                                    : Character{bytes, true, code};
}

bool is_control(char32_t code) {
  const bool is_line_separator = code == 0x2028 || code == 0x2029;
  const bool reorders = code == 0x061c || code == 0x200e || code == 0x200f ||
                        (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || is_line_separator || reorders;
}

// Calls put(text) for each character.
template <class Put>
void for_each_shown(std::string_view text, std::string_view line_break, const Put& put) {
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.code == '\n' && c.is_valid) {
      put(line_break);
    } else {
      put(!c.is_valid || is_control(c.code) ? std::string_view("?") : text.substr(0, c.bytes));
    }
    text.remove_prefix(c.bytes);
  }
}

}  // namespace

std::string quote_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

std::string printable(std::string_view text) {
  std::string shown;
  for_each_shown(text, "?", [&](std::string_view part) { shown += part; });
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  for_each_shown(text, "\n", [&](std::string_view part) { shown += part; });
  return shown;
}

void print_message(std::initializer_list<std::string_view> parts) noexcept {
  std::array<char, 1024> line;  // most messages are one write
  std::size_t size = 0;
  const auto put = [&](std::string_view part) {
    if (part.size() > line.size() - size)
      std::fwrite(line.data(), 1, std::exchange(size, 0), stderr);
    std::memcpy(line.data() + size, part.data(), part.size());
    size += part.size();
  };
  ::flockfile(stderr);
  put("reprise: ");
  for (const std::string_view part : parts) for_each_shown(part, "\n  ", put);
  put("\n");
  std::fwrite(line.data(), 1, size, stderr);
  ::funlockfile(stderr);
}

std::string failure_text(const std::exception& failure, std::string_view doing,
                         std::string_view object) noexcept {
  try {
    if (dynamic_cast<const std::bad_alloc*>(&failure) == nullptr) return failure.what();
    return concat("out of memory while ", doing, object,
                  ": end other programs, or raise the memory limit of this one");
  } catch (const std::bad_alloc&) {
    return "out of memory";  // short strings are not allocated
  }
}

}  // namespace reprise::detail
