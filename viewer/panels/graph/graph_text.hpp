// TextWidths: how wide text of one font is, as a value, so that a layout can make room for it on
// another thread. Knows of fonts only the advances of ASCII; any other character counts as wide as
// the widest digit. Threads: of() the drawing thread's, else any.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <imgui.h>

namespace reprise::viewer {

struct TextWidths {
  std::array<float, 128> advance{};
  float other = 0, height = 0;  // of one character that is not ASCII; of a line

  // At the font's own size; null: the font that ImGui draws with now.
  [[nodiscard]] static TextWidths of(const ImFont* font);
  [[nodiscard]] float width(std::string_view text) const noexcept;
  // `text`, or as much of its begin and end as fits around an ellipsis; where that is little, of
  // its begin and a number at its end; empty where it is nothing.
  [[nodiscard]] std::string fit(std::string_view text, float width) const;
  friend bool operator==(const TextWidths&, const TextWidths&) = default;
};

}  // namespace reprise::viewer
