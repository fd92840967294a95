#include "injection/utf16.hpp"

#include <cstdint>

namespace reprise::detail {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd, kLast = 0x10ffff;

bool is_surrogate(std::uint32_t code) { return code >= 0xd800 && code <= 0xdfff; }

void append(std::uint32_t code, std::string& text) {
  const auto rest = [&](unsigned shift) {
    text += static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    rest(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    rest(6), rest(0);
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    rest(12), rest(6), rest(0);
  }
}

}  // namespace

std::string to_utf8(std::wstring_view wide) {
  static_assert(sizeof(wchar_t) == 4, "a wide character is one of Unicode");
  std::string text;
  text.reserve(wide.size());
  for (const wchar_t one : wide) {
    const auto code = static_cast<std::uint32_t>(one);
    append(code > kLast || is_surrogate(code) ? kReplacement : code, text);
  }
  return text;
}

}  // namespace reprise::detail
