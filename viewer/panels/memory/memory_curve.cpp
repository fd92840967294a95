// The curve of the memory map: live bytes over time, with reference lines.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "panels/memory/memory_map.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

constexpr double kHeadroom = 1.12;
// A reference line this many times above the others is named but not drawn, to keep the scale.
constexpr double kOffScale = 2.5;

}  // namespace

void MemoryMap::draw_curve(PanelContext& context, const Content& content, const Regions& regions) {
  const Theme& theme = context.theme;
  const MemoryViewModel& view_model = content.view_model;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 min = regions.curve_min, max = regions.curve_max;
  const trace::GraphVersion& record = view_model.graph->record();
  double highest =
      static_cast<double>(std::max({view_model.use.slab_bytes, view_model.use.peak_bytes,
                                    record.lower_bound_bytes, std::uint64_t{1}}));
  if (static_cast<double>(view_model.use.naive_bytes) <= highest * kOffScale)
    highest = std::max(highest, static_cast<double>(view_model.use.naive_bytes));
  highest *= kHeadroom;
  const auto y_of = [&](std::uint64_t bytes) {
    return max.y - static_cast<float>(static_cast<double>(bytes) / highest) * (max.y - min.y);
  };

  list->PushClipRect(min, max, true);
  const auto& steps = view_model.use.steps;
  // Steps within one pixel column are drawn as their maximum.
  const auto first = std::upper_bound(
      steps.begin(), steps.end(), canvas_.visible_area().left,
      [](double t, const model::MemoryStep& s) { return t < static_cast<double>(s.at); });
  std::size_t i = first == steps.begin() ? 0 : static_cast<std::size_t>(first - steps.begin()) - 1;
  const ImU32 fill = with_alpha(theme.accent, 0.28f);
  float last_y = max.y;
  while (i + 1 < steps.size() && screen_x(static_cast<double>(steps[i].at)) <= max.x) {
    std::uint64_t bytes = steps[i].bytes;
    const float x0 = screen_x(static_cast<double>(steps[i].at));
    while (i + 2 < steps.size() && screen_x(static_cast<double>(steps[i + 1].at)) < x0 + 1)
      bytes = std::max(bytes, steps[++i].bytes);
    const float x1 = std::max(screen_x(static_cast<double>(steps[i + 1].at)), x0 + 1),
                y = y_of(bytes);
    list->AddRectFilled({x0, y}, {x1, max.y}, fill);
    list->AddLine({x0, last_y}, {x0, y}, theme.accent, theme.scale);
    list->AddLine({x0, y}, {x1, y}, theme.accent, 1.5f * theme.scale);
    last_y = y;
    ++i;
  }
  const float shift = view_model.is_measured ? 0.0f : 0.5f;
  if (view_model.use.peak_bytes != 0) {
    const ImVec2 peak{screen_x(static_cast<double>(view_model.use.peak_at) + shift),
                      y_of(view_model.use.peak_bytes)};
    list->AddLine({peak.x, peak.y}, {peak.x, max.y}, theme.warning, theme.scale);
    list->AddCircleFilled(peak, 3.5f * theme.scale, theme.warning);
  }
  if (cursor()) {
    const float x = screen_x(static_cast<double>(*cursor()) + shift);
    list->AddLine({x, min.y}, {x, max.y}, theme.accent, 1.5f * theme.scale);
  }
  list->PopClipRect();
  list->AddLine({min.x, max.y}, max, theme.line);
  draw_lines(context, content, regions, highest);

  ImGui::SetCursorScreenPos(min);
  ImGui::InvisibleButton("live bytes",
                         {std::max(max.x - min.x, 1.0f), std::max(max.y - min.y, 1.0f)});
  if (!ImGui::IsItemHovered() || view_model.length == 0) return;
  const auto at = static_cast<Time>(std::clamp(std::floor(canvas_.x_of(ImGui::GetIO().MousePos.x)),
                                               0.0, static_cast<double>(view_model.length - 1)));
  const float x = screen_x(static_cast<double>(at) + shift);
  list->AddLine({x, min.y}, {x, max.y}, theme.ink_soft, theme.scale);
  ImGui::SetTooltip("%s: %s live\nClick to list the live buffers",
                    position_text(view_model, at).c_str(),
                    bytes_text(live_bytes_at(view_model, at)).c_str());
  if (ImGui::IsItemClicked()) set_cursor(at);
}

// Draws the reference lines and their names in the gutter, without overlap.
void MemoryMap::draw_lines(const PanelContext& context, const Content& content,
                           const Regions& regions, double highest) const {
  const Theme& theme = context.theme;
  const MemoryViewModel& view_model = content.view_model;
  struct Line {
    const char* name;
    std::uint64_t bytes;
    ImU32 colour;
    float y, text_y;
  };
  std::array<Line, 4> lines{
      {{"unshared", view_model.use.naive_bytes, theme.ink_faint, 0, 0},
       {"slab", view_model.use.slab_bytes, theme.ink, 0, 0},
       {"lower bound", view_model.graph->record().lower_bound_bytes, theme.good, 0, 0},
       {"peak", view_model.use.peak_bytes, theme.warning, 0, 0}}};
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.bytes > b.bytes; });
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const ImVec2 min = regions.curve_min, max = regions.curve_max;
  const float height = font->FontSize;
  for (Line& l : lines) {
    l.y = max.y - static_cast<float>(static_cast<double>(l.bytes) / highest) * (max.y - min.y);
    l.text_y = std::max(l.y, min.y) - height / 2;
  }
  // Push down from the top, then up from the bottom, so that all names stay beside the curve.
  float next_y = min.y - theme.half_space;
  for (Line& l : lines) next_y = (l.text_y = std::max(l.text_y, next_y)) + height;
  float floor = max.y + theme.space;
  for (auto l = lines.rbegin(); l != lines.rend(); ++l)
    floor = (l->text_y = std::min(l->text_y, floor - height));
  const float text_x = max.x + 18 * theme.scale;
  for (const Line& l : lines) {
    const bool is_off = l.y < min.y;
    const float y = std::floor(std::max(l.y, min.y)) + 0.5f;
    if (!is_off) {
      list->AddLine({min.x, y}, {max.x, y}, with_alpha(l.colour, 0.8f), theme.scale);
      list->AddLine({max.x, y}, {text_x - 4 * theme.scale, l.text_y + height / 2},
                    with_alpha(l.colour, 0.8f), theme.scale);
    }
    const std::string text =
        std::string(l.name) + " " + bytes_text(l.bytes) + (is_off ? " (above)" : "");
    list->AddText(font, height, {text_x, l.text_y},
                  l.colour == theme.ink_faint ? theme.ink_soft : l.colour, text.c_str());
  }
}

}  // namespace reprise::viewer
