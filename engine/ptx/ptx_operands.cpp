#include "ptx/ptx_operands.hpp"

#include <limits>

#include "base/text.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

std::string_view without_brackets(std::string_view operand) {
  if (operand.size() < 2 || operand.front() != '[' || operand.back() != ']') return {};
  return trim_ptx(operand.substr(1, operand.size() - 2));
}

std::optional<NameWithOffset> parse_name_with_offset(std::string_view text) {
  using Limits = std::numeric_limits<std::int32_t>;
  NameWithOffset result{.name = first_ptx_word(text)};
  if (result.name.empty() || is_ptx_digit(result.name.front())) return std::nullopt;
  text.remove_prefix(result.name.size());
  while (!(text = trim_ptx(text)).empty()) {
    std::int64_t sign = 0;
    while (!text.empty() && (text.front() == '+' || text.front() == '-')) {
      sign = (sign == 0 ? 1 : sign) * (text.front() == '-' ? -1 : 1);
      text = trim_ptx(text.substr(1));
    }
    const std::string_view digits = first_ptx_word(text);
    const std::optional<std::uint64_t> number = parse_ptx_number(digits);
    if (sign == 0 || !number || *number > Limits::max()) return std::nullopt;
    result.offset += sign * static_cast<std::int64_t>(*number);
    if (result.offset < Limits::min() || result.offset > Limits::max()) return std::nullopt;
    text.remove_prefix(digits.size());
  }
  return result;
}

std::string signed_offset(std::int64_t offset) {
  return offset == 0 ? std::string() : offset < 0 ? std::to_string(offset) : concat("+", offset);
}

std::string inverted_guard(std::string_view guard) {
  std::string_view name = guard;
  while (!name.empty() && !is_ptx_word(name.front())) name.remove_prefix(1);
  return concat(guard.find('!') == guard.npos ? "@!" : "@", name);
}

}  // namespace reprise::detail
