#include "panels/widgets/widgets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <imgui_internal.h>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

constexpr float kTooltipWidth = 32;  // of text, in font sizes

void draw_centred(const Theme& theme, ImFont* font, const std::string& text, ImU32 colour,
                  float& y) {
  ImGui::PushFont(font);
  const ImVec2 min = ImGui::GetWindowContentRegionMin();
  const float left = std::max(ImGui::GetWindowContentRegionMin().x, theme.space);
  const float width = std::max(1.0f, ImGui::GetWindowContentRegionMax().x - min.x);
  const float wrap = std::min(width - 2 * theme.space, 520 * theme.scale);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, std::max(wrap, 40.0f));
  ImGui::SetCursorPos({left + std::max(0.0f, (width - size.x) / 2), y});
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + std::max(wrap, 40.0f));
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  y += size.y + theme.half_space;
  ImGui::PopFont();
}

// The y position of a text block centred in the remaining area.
float centred_y(const Theme& theme, bool has_second_line) {
  const float top = ImGui::GetCursorPosY(), height = ImGui::GetContentRegionAvail().y;
  const float block = ImGui::GetTextLineHeight() * (has_second_line ? 2.6f : 1.2f);
  return top + std::max(theme.half_space, (height - block) * 0.46f);
}

// A tooltip or menu is as wide as its contents: text that wraps at its edge would make it narrower
// with each frame, down to one character per line.
float field_wrap(float value_x) {
  const bool fits_contents =
      (ImGui::GetCurrentWindow()->Flags & ImGuiWindowFlags_AlwaysAutoResize) != 0;
  return fits_contents ? value_x + kTooltipWidth * ImGui::GetFontSize() : 0;
}

}  // namespace

void draw_empty(const Theme& theme, const std::string& message, const std::string& hint) {
  float y = centred_y(theme, !hint.empty());
  draw_centred(theme, theme.text, message, theme.ink, y);
  if (!hint.empty()) draw_centred(theme, theme.text, hint, theme.ink_soft, y);
}

void draw_busy(const Theme& theme, const std::string& message) {
  float y = centred_y(theme, true);
  // Three dots, highlighted in turn.
  const float radius = 3.5f * theme.scale, step = 14 * theme.scale;
  const ImVec2 window = ImGui::GetWindowPos();
  const float x =
      window.x + (ImGui::GetWindowContentRegionMin().x + ImGui::GetWindowContentRegionMax().x) / 2 -
      step;
  const auto active = static_cast<int>(ImGui::GetTime() * 3) % 3;
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  for (int i = 0; i < 3; ++i) {
    const ImVec2 at{x + static_cast<float>(i) * step, window.y - ImGui::GetScrollY() + y - radius};
    draw->AddCircleFilled(at, radius, i == active ? theme.accent : theme.line);
  }
  y += radius * 2 + theme.half_space;
  draw_centred(theme, theme.text, message, theme.ink_soft, y);
}

void text_right(const std::string& text, ImU32 colour) {
  const float width = ImGui::CalcTextSize(text.c_str()).x,
              free = ImGui::GetContentRegionAvail().x - width;
  if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

bool text_ellipsis(const std::string& text, ImU32 colour) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::CalcTextSize(text.c_str());
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  const bool is_clipped = size.x > width;
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  if (is_clipped) {
    ImGui::Dummy({width, size.y});
    ImGui::RenderTextEllipsis(ImGui::GetWindowDrawList(), at, {at.x + width, at.y + size.y},
                              at.x + width, at.x + width, text.c_str(), nullptr, &size);
  } else {
    ImGui::TextUnformatted(text.c_str());
  }
  ImGui::PopStyleColor();
  return is_clipped;
}

void draw_field(const Theme& theme, const char* label, const std::string& value, float value_x) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(label);
  ImGui::PopStyleColor();
  ImGui::SameLine(value_x);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  ImGui::PushTextWrapPos(field_wrap(value_x));
  ImGui::TextUnformatted(value.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

bool begin_combo(const Theme& theme, const char* id, const std::string& chosen, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetFrameHeight(), line = ImGui::GetTextLineHeight();
  ImDrawList* const draw = ImGui::GetWindowDrawList();  // BeginCombo() changes the current window
  ImGui::SetNextItemWidth(width);
  ImGui::SetNextWindowSizeConstraints({width, 0},
                                      {std::max(width, 560 * theme.scale), 420 * theme.scale});
  const bool open =
      ImGui::BeginCombo(id, "", ImGuiComboFlags_NoArrowButton | ImGuiComboFlags_HeightLargest);
  const ImVec4 clip{at.x, at.y, at.x + width - side, at.y + side};
  draw->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                {at.x + ImGui::GetStyle().FramePadding.x, at.y + std::round((side - line) / 2)},
                theme.ink, chosen.c_str(), nullptr, 0, &clip);
  const ImVec2 c{std::round(at.x + width - side / 2), std::round(at.y + side / 2)};
  const float r = std::round(3.5f * theme.scale);
  draw->AddLine({c.x - r, c.y - r / 2}, {c.x, c.y + r / 2}, theme.ink_soft, 1.5f * theme.scale);
  draw->AddLine({c.x, c.y + r / 2}, {c.x + r, c.y - r / 2}, theme.ink_soft, 1.5f * theme.scale);
  return open;
}

void tooltip(const std::string& text) {
  if (text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  if (context.HoveredId != 0 && context.HoveredIdTimer < 0.35f) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * kTooltipWidth);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

float draw_heat_legend(const Theme& theme, ImVec2 at, float width, const std::string& title,
                       const std::string& min, const std::string& max, const std::string& middle) {
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  ImFont* const font = theme.small != nullptr ? theme.small : ImGui::GetFont();
  const float line = font_size(font), bar = std::round(8 * theme.scale);
  const auto text = [&](float x, float y, ImU32 colour, const std::string& content) {
    draw->AddText(font, line, {std::round(x), y}, colour, content.c_str());
  };
  const auto width_of = [&](const std::string& content) {
    return font->CalcTextSizeA(line, FLT_MAX, 0, content.c_str()).x;
  };
  float y = at.y;
  text(at.x, y, theme.ink_soft, title);
  y += line + theme.half_space;
  constexpr int kSteps = 32;
  for (int i = 0; i < kSteps; ++i) {
    const float x0 = at.x + width * static_cast<float>(i) / kSteps,
                x1 = at.x + width * static_cast<float>(i + 1) / kSteps;
    const ImU32 left = heat(static_cast<float>(i) / kSteps),
                right = heat(static_cast<float>(i + 1) / kSteps);
    draw->AddRectFilledMultiColor({x0, y}, {x1, y + bar}, left, right, right, left);
  }
  draw->AddRect({at.x, y}, {at.x + width, y + bar}, theme.line);
  y += bar + 2 * theme.scale;
  const float first = width_of(min), last = width_of(max), half = width_of(middle);
  text(at.x, y, theme.ink, min);
  text(at.x + width - last, y, theme.ink, max);
  const float from = at.x + (width - half) / 2;
  if (!middle.empty() && from > at.x + first + theme.half_space &&
      from + half < at.x + width - last - theme.half_space) {
    text(from, y, theme.ink_soft, middle);
    draw->AddLine({at.x + width / 2, y - 2 * theme.scale - bar / 2}, {at.x + width / 2, y},
                  theme.ink, 1);
  }
  return y + line - at.y;
}

float draw_legend(const Theme& theme, ImVec2 at, const std::string& title,
                  std::span<const LegendItem> items) {
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  ImFont* const font = theme.small != nullptr ? theme.small : ImGui::GetFont();
  const float line = font_size(font), swatch = std::round(line * 0.72f);
  const bool has_swatches = std::any_of(items.begin(), items.end(),
                                        [](const LegendItem& item) { return item.colour != 0; });
  const float text_x = at.x + (has_swatches ? swatch + 6 * theme.scale : 0);
  float y = at.y;
  if (!title.empty()) {
    draw->AddText(font, line, {at.x, y}, theme.ink_soft, title.c_str());
    y += line + theme.half_space;
  }
  for (const LegendItem& item : items) {
    const float top = y + (line - swatch) / 2;
    if (item.colour != 0) {
      draw->AddRectFilled({at.x, top}, {at.x + swatch, top + swatch}, item.colour, 2 * theme.scale);
      draw->AddRect({at.x, top}, {at.x + swatch, top + swatch}, theme.line, 2 * theme.scale);
    }
    draw->AddText(font, line, {text_x, y}, theme.ink, item.text.c_str());
    y += line + 3 * theme.scale;
  }
  return y - at.y;
}

const char* cause_text(trace::EdgeCause cause) {
  switch (cause) {
    case trace::EdgeCause::Hazard: return "hazard";
    case trace::EdgeCause::Barrier: return "barrier";
    case trace::EdgeCause::User: return "explicit";
    case trace::EdgeCause::Linear: return "linear order";
    case trace::EdgeCause::Lane: return "lane";
    case trace::EdgeCause::EntryExit: return "entry/exit";
    case trace::EdgeCause::Captured: return "captured";
  }
  return "?";
}

const char* hazard_text(trace::Hazard hazard) {
  switch (hazard) {
    case trace::Hazard::None: return "no hazard";
    case trace::Hazard::ReadAfterWrite: return "read after write";
    case trace::Hazard::WriteAfterRead: return "write after read";
    case trace::Hazard::WriteAfterWrite: return "write after write";
  }
  return "?";
}

const char* source_text(trace::SampleSource source) {
  switch (source) {
    case trace::SampleSource::Host: return "host clock";
    case trace::SampleSource::Timestamp: return "device timestamps";
    case trace::SampleSource::Cupti: return "CUPTI";
  }
  return "?";
}

std::string edge_reason(const model::Graph& graph, std::uint32_t edge) {
  const trace::GraphVersion& record = graph.record();
  const trace::Edge& e = record.edges[edge];
  std::string text = cause_text(e.cause);
  if (e.cause == trace::EdgeCause::Barrier && e.barrier != trace::kNone) {
    const trace::Barrier& barrier = record.barriers[e.barrier];
    const std::string location = source_location_text(graph, barrier.file, barrier.line);
    if (!location.empty()) text += " at " + location;
    text +=
        barrier.buffer == trace::kNone ? ", global" : " on " + graph.buffer_name(barrier.buffer);
    if (barrier.dependency == trace::Dependency::Programmatic) text += ", programmatic";
  }
  if (e.hazard != trace::Hazard::None) {
    text += std::string(": ") + hazard_text(e.hazard);
    if (e.buffer != trace::kNone) {
      text += " on " + graph.buffer_name(e.buffer);
      if (e.end > e.begin) text += " [" + count_text(e.begin) + ", " + count_text(e.end) + ")";
    }
  }
  return text;
}

std::string source_location_text(const model::Graph& graph, std::uint32_t file,
                                 std::uint32_t line) {
  const auto& strings = graph.record().strings;
  if (line == 0 || file >= strings.size() || strings[file].empty()) return {};
  const std::string& path = strings[file];
  const std::size_t slash = path.find_last_of("/\\");
  return (slash == std::string::npos ? path : path.substr(slash + 1)) + ":" + std::to_string(line);
}

std::string whole_kernel_text(const model::Graph& graph, std::uint32_t node) {
  const std::string& whole = graph.full_kernel_name(node);
  return whole == graph.kernel_name(node) ? std::string() : whole;
}

}  // namespace reprise::viewer
