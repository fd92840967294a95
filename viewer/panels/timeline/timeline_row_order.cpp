#include "panels/timeline/timeline_row_order.hpp"

#include <cctype>

namespace reprise::viewer {

bool name_precedes(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size(); ++i, ++k) {
    if (!is_digit(a[i]) || !is_digit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      continue;
    }
    const auto end_of = [&](const std::string& text, std::size_t at) {
      while (at < text.size() && is_digit(text[at])) ++at;
      return at;
    };
    const std::size_t end_a = end_of(a, i), end_b = end_of(b, k);
    if (end_a - i != end_b - k) return end_a - i < end_b - k;
    if (const int order = a.compare(i, end_a - i, b, k, end_b - k); order != 0) return order < 0;
    i = end_a - 1;
    k = end_b - 1;
  }
  return a.size() < b.size();
}

}  // namespace reprise::viewer
