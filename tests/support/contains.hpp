// Threads: any.
#pragma once

#include <string_view>

namespace reprise::test {

// True if `part` occurs in `text`.
[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace reprise::test
