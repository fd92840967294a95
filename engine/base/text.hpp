// concat: joins strings and integers into one string, for messages. Knows no type of the engine.
// Threads: pure functions.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace reprise::detail {

inline void append_part(std::string& text, std::string_view part) { text += part; }
inline void append_part(std::string& text, char part) { text += part; }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void append_part(std::string& text, T part) { text += std::to_string(part); }

template <class... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  std::string text;
  (append_part(text, parts), ...);
  return text;
}

}  // namespace reprise::detail
