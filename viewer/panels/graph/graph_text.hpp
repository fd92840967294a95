// TextWidths: text metrics of one font as a value, so that layouts can measure text on another
// thread. Stores the advances of ASCII characters; all others use one common width. Threads: of()
// runs on the drawing thread, the rest on any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <imgui.h>

namespace reprise::viewer {

struct TextWidths {
  std::array<float, 128> advance{};
  float other = 0, height = 0;  // width of a non-ASCII character; line height

  // Metrics at the font's native size; null: ImGui's current font.
  [[nodiscard]] static TextWidths of(const ImFont* font);
  [[nodiscard]] float width(std::string_view text) const noexcept;
  // `text` shortened to `limit`: start and end around an ellipsis. At small limits: the start and a
  // trailing number. Empty if fewer than three characters fit.
  [[nodiscard]] std::string fit(std::string_view text, float limit) const;
  friend bool operator==(const TextWidths&, const TextWidths&) = default;
};

}  // namespace reprise::viewer
