#include "panels/graph/graph_text.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

}  // namespace

TextWidths TextWidths::of(const ImFont* font) {
  if (font == nullptr) font = ImGui::GetFont();
  TextWidths widths;
  for (std::size_t c = 0; c < widths.advance.size(); ++c)
    widths.advance[c] = font->GetCharAdvance(static_cast<ImWchar>(c));
  widths.other = std::max(font->GetCharAdvance('8'), font->GetCharAdvance('m') * 0.8f);
  widths.height = font->FontSize;
  return widths;
}

float TextWidths::width(std::string_view text) const noexcept {
  float sum = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    sum += byte < 128 ? advance[byte] : is_continuation(c) ? 0 : other;
  }
  return sum;
}

std::string TextWidths::fit(std::string_view text, float limit) const {
  if (width(text) <= limit) return std::string(text);
  constexpr std::string_view kEllipsis = "..";
  constexpr float kMinCharacters = 12;  // below this the end costs too much space
  if (limit < kMinCharacters * other) {
    std::size_t number = text.size();
    while (number > 0 && text[number - 1] >= '0' && text[number - 1] <= '9') --number;
    // A number keeps names distinguishable.
    std::string last = std::string(kEllipsis) + std::string(text.substr(number));
    if (width(last) > limit / 2) last = kEllipsis;
    std::size_t end = 0;
    for (float sum = width(last); end < text.size() && sum + width(text.substr(end, 1)) <= limit;
         ++end)
      sum += width(text.substr(end, 1));
    while (end > 0 && end < text.size() && is_continuation(text[end])) --end;
    return end < 3 ? std::string() : std::string(text.substr(0, end)) + last;
  }
  const float available = limit - width(kEllipsis);
  // Names differ at both ends: two thirds of the width for the start, the rest for the end.
  std::size_t head = 0, tail = text.size();
  float head_width = 0, tail_width = 0;
  while (head < text.size() && head_width + width(text.substr(head, 1)) <= available * 2 / 3)
    head_width += width(text.substr(head++, 1));
  while (tail > head && tail_width + width(text.substr(tail - 1, 1)) <= available - head_width)
    tail_width += width(text.substr(--tail, 1));
  while (head > 0 && head < text.size() && is_continuation(text[head])) --head;
  while (tail < text.size() && is_continuation(text[tail])) ++tail;
  if (head + (text.size() - tail) < 3) return {};
  return std::string(text.substr(0, head)) + std::string(kEllipsis) +
         std::string(text.substr(tail));
}

}  // namespace reprise::viewer
