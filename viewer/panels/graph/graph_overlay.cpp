#include "panels/graph/graph_overlay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::array kCauses = {trace::EdgeCause::Hazard,   trace::EdgeCause::Barrier,
                                trace::EdgeCause::User,     trace::EdgeCause::Linear,
                                trace::EdgeCause::Captured, trace::EdgeCause::Lane,
                                trace::EdgeCause::EntryExit};
constexpr float kLegendWidth = 184, kMapWidth = 200, kMapHeight = 130;  // at scale 1
constexpr float kLegendFrom = 3;  // in legend widths: panel width from which the legend is shown

const char* cause_explanation(trace::EdgeCause cause) {
  switch (cause) {
    case trace::EdgeCause::Hazard:
      return "Two commands access the same bytes and at least one of them writes.";
    case trace::EdgeCause::Barrier: return "A barrier separates the commands.";
    case trace::EdgeCause::User: return "Added by the application.";
    case trace::EdgeCause::Linear: return "Commands run in recorded order.";
    case trace::EdgeCause::Captured: return "Taken from a captured graph.";
    case trace::EdgeCause::Lane: return "Added by lowering: nodes in a lane run one after another.";
    case trace::EdgeCause::EntryExit:
      return "Added by lowering: all nodes run between the entry and the exit kernel.";
  }
  return "";
}

bool begin_overlay(const Theme& theme, const char* id, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, with_alpha(theme.raised, 0.98f));
  ImGui::PushStyleColor(ImGuiCol_Border, theme.line);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, theme.radius);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme.space, theme.space});
  return ImGui::BeginChild(
      id, size, true,
      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoMove);
}
void end_overlay() {
  ImGui::EndChild();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(2);
}

void draw_line_sample(const Theme& theme, ImDrawList& list, ImVec2 at, float width,
                      trace::EdgeCause cause, float alpha) {
  const ImU32 colour = with_alpha(cause_colour(theme, cause), alpha);
  const float thickness = std::round(2 * theme.scale);
  if ((cause_bit(cause) & kAddedCauses) == 0)
    return list.AddLine(at, {at.x + width, at.y}, colour, thickness);
  for (int i = 0; i < 3; ++i) {
    const float x = at.x + width * static_cast<float>(i) * 0.38f;
    list.AddLine({x, at.y}, {x + width * 0.24f, at.y}, colour, thickness);
  }
}

void draw_cause(const Theme& theme, trace::EdgeCause cause, std::uint32_t& shown) {
  const bool on = (shown & cause_bit(cause)) != 0;
  const ImVec2 at = ImGui::GetCursorScreenPos(),
               size{ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight() + 2 * theme.scale};
  ImGui::PushID(static_cast<int>(cause));
  if (ImGui::InvisibleButton("cause", size)) shown ^= cause_bit(cause);
  ImGui::PopID();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered())
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, theme.hovered, theme.radius);
  tooltip(std::string(cause_explanation(cause)) +
          (on ? " Click to hide these edges." : " Click to show these edges."));
  const float width = 22 * theme.scale, middle = at.y + size.y / 2;
  draw_line_sample(theme, list, {at.x, middle}, width, cause, on ? 1 : 0.35f);
  const ImVec2 text{at.x + width + theme.space, at.y + 1 * theme.scale};
  list.AddText(text, on ? theme.ink : theme.ink_faint, cause_text(cause));
  if (!on) {
    const char* const hidden = "hidden";
    list.AddText({at.x + size.x - ImGui::CalcTextSize(hidden).x, text.y}, theme.ink_faint, hidden);
  }
}

}  // namespace

float graph_legend_width(const Theme& theme, float available) {
  const float width = kLegendWidth * theme.scale;
  return available < kLegendFrom * width ? 0 : width;
}

void draw_graph_legend(const PanelContext& context, const GraphScene& scene, ImVec2 size,
                       const std::string& title, std::uint32_t& shown) {
  const Theme& theme = context.theme;
  ImGui::PushFont(theme.small);
  if (ImGui::BeginChild("legend", size)) {
    if (!title.empty()) {
      ImGui::PushStyleColor(ImGuiCol_Text, theme.accent);
      ImGui::TextUnformatted(title.c_str());
      ImGui::PopStyleColor();
    }
    const float width = ImGui::GetContentRegionAvail().x - theme.space;
    ImGui::Dummy({1, draw_colour_legend(context, ImGui::GetCursorScreenPos(), width)});
    if (scene.causes != 0) {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme.space, 0});
      ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
      ImGui::TextUnformatted("edge cause");
      ImGui::PopStyleColor();
      for (const trace::EdgeCause cause : kCauses) {
        if ((scene.causes & cause_bit(cause)) != 0) draw_cause(theme, cause, shown);
      }
      ImGui::PopStyleVar();
    }
  }
  ImGui::EndChild();
  ImGui::PopFont();
}

void draw_frame_rate(const GraphDrawContext& drawing) {
  const Theme& theme = drawing.theme();
  char text[64];
  std::snprintf(text, sizeof text, "%.0f frames/s", static_cast<double>(ImGui::GetIO().Framerate));
  const ImFont* const font = theme.small != nullptr ? theme.small : ImGui::GetFont();
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, 1e9f, 0, text),
               at{drawing.canvas.max().x - size.x - theme.space,
                  drawing.canvas.min().y + theme.half_space};
  drawing.list.AddRectFilled({at.x - theme.half_space, at.y},
                             {at.x + size.x + theme.half_space, at.y + size.y},
                             with_alpha(theme.panel, 0.8f), theme.radius);
  drawing.list.AddText(font, font->FontSize, at, theme.ink, text);
}

void draw_graph_minimap(const GraphDrawContext& drawing, Canvas& canvas) {
  const Rect& all = drawing.scene.bounds;
  const CanvasBounds visible = canvas.visible_area();
  const auto left = static_cast<double>(all.left), top = static_cast<double>(all.top),
             right = static_cast<double>(all.right), bottom = static_cast<double>(all.bottom);
  if (visible.left <= left && visible.top <= top && visible.right >= right &&
      visible.bottom >= bottom)
    return;
  const Theme& theme = drawing.theme();
  const float margin = theme.space, s = theme.scale;
  const float zoom = std::min((kMapWidth - 12) * s / std::max(all.width(), 1.0f),
                              (kMapHeight - 12) * s / std::max(all.height(), 1.0f));
  const ImVec2 size{std::max(all.width() * zoom, 8 * s) + 12 * s,
                    std::max(all.height() * zoom, 8 * s) + 12 * s};
  if (canvas.max().x - canvas.min().x < 3 * size.x ||
      canvas.max().y - canvas.min().y < 1.5f * size.y)
    return;
  const ImVec2 at{canvas.max().x - margin - size.x, canvas.max().y - margin - size.y};
  if (begin_overlay(theme, "minimap", at, size)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::SetCursorScreenPos(at);
    ImGui::InvisibleButton("map", size);
    const ImVec2 origin{at.x + 6 * s - all.left * zoom, at.y + 6 * s - all.top * zoom};
    if (ImGui::IsItemActive()) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      canvas.centre(static_cast<double>((mouse.x - origin.x) / zoom),
                    static_cast<double>((mouse.y - origin.y) / zoom));
    }
    tooltip("Minimap. Click or drag to move the view.");
    const std::uint32_t level = GraphLod::level_for(3 * s / zoom);
    for (const GraphBlock& block : drawing.scene.lod.blocks(level)) {
      const std::uint32_t first = drawing.scene.lod.boxes_of(level, block)[0];
      std::uint32_t hottest = drawing.times[first].hottest;
      double max_heat = node_heat(drawing.context, hottest);
      for (const std::uint32_t box : drawing.scene.lod.boxes_of(level, block)) {
        const double heat = node_heat(drawing.context, drawing.times[box].hottest);
        if (heat <= max_heat) continue;
        max_heat = heat;
        hottest = drawing.times[box].hottest;
      }
      const ImVec2 low{origin.x + block.rect.left * zoom, origin.y + block.rect.top * zoom};
      const ImVec2 height{std::max(origin.x + block.rect.right * zoom, low.x + 1.5f * s),
                          std::max(origin.y + block.rect.bottom * zoom, low.y + 1.5f * s)};
      list.AddRectFilled(low, height, node_colour(drawing.context, hottest));
    }
    const ImVec2 low{origin.x + static_cast<float>(std::max(visible.left, left)) * zoom - 2 * s,
                     origin.y + static_cast<float>(std::max(visible.top, top)) * zoom - 2 * s};
    const ImVec2 height{
        origin.x + static_cast<float>(std::min(visible.right, right)) * zoom + 2 * s,
        origin.y + static_cast<float>(std::min(visible.bottom, bottom)) * zoom + 2 * s};
    list.AddRectFilled(low, height, with_alpha(theme.accent, 0.14f));
    list.AddRect(low, height, theme.accent, 0, ImDrawFlags_None, std::round(2 * s));
  }
  end_overlay();
}

}  // namespace reprise::viewer
