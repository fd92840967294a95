// Parses and writes operands and guards of PTX instructions. Knows no instruction. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::detail {

// The address in a memory operand such as [name+4]; empty: `operand` has no brackets.
[[nodiscard]] std::string_view without_brackets(std::string_view operand);

// name, name+4 or name+0+4; the name can be a register. Refers to the parsed text.
struct NameWithOffset {
  std::string_view name;
  std::int64_t offset = 0;
};
// Empty: all of `text` is not of this form, or the offset has more than 32 bits.
[[nodiscard]] std::optional<NameWithOffset> parse_name_with_offset(std::string_view text);

// The offset as text that follows a name: "+4", "-4", or empty for 0.
[[nodiscard]] std::string signed_offset(std::int64_t offset);

// "@!%p" for "@%p", and the reverse.
[[nodiscard]] std::string inverted_guard(std::string_view guard);

}  // namespace reprise::detail
