#include "panels/inspector/inspector_parts.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "base/block_interval.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

void draw_text(const std::string& text, ImU32 colour) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

void draw_wrapped(const std::string& text, ImU32 colour) {
  ImGui::PushTextWrapPos(0);
  draw_text(text, colour);
  ImGui::PopTextWrapPos();
}

// The text, shortened to fit into `width`.
std::string fitting(const std::string& text, float width) {
  const float wide = ImGui::CalcTextSize(text.c_str()).x;
  if (wide <= width || text.empty()) return text;
  const auto fits =
      static_cast<std::size_t>(std::max(0.0f, static_cast<float>(text.size()) * width / wide - 1));
  return shortened(text, std::max<std::size_t>(fits, 4));
}

float label_width() { return std::min(ImGui::GetFontSize() * 10, ImGui::GetWindowWidth() * 0.42f); }

void draw_labelled(const Theme& theme, const char* label, const std::string& value,
                   const char* explanation, ImFont* font) {
  if (value.empty()) return;
  const float left = ImGui::GetCursorPosX();
  ImGui::PushID(label);
  ImGui::BeginGroup();
  draw_text(label, theme.ink_soft);
  ImGui::SameLine(left + label_width());
  ImGui::PushFont(font);
  draw_wrapped(value, theme.ink);
  ImGui::PopFont();
  ImGui::EndGroup();
  if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(0)) ImGui::SetClipboardText(value.c_str());
  tooltip(std::string(explanation) + (*explanation == 0 ? "" : "\n") + "Click to copy");
  ImGui::PopID();
}

}  // namespace

void draw_title(const Theme& theme, const std::string& kind, const std::string& name, ImU32 chip) {
  ImGui::PushFont(theme.small);
  draw_text(kind, theme.ink_soft);
  ImGui::PopFont();
  ImGui::PushFont(theme.heading);
  if (chip != 0) {
    const float line = ImGui::GetTextLineHeight(), size = std::round(line * 0.66f);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float top = at.y + (line - size) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size}, chip,
                                              3 * theme.scale);
    ImGui::Dummy({size, line});
    ImGui::SameLine(0, theme.space);
  }
  draw_wrapped(name, theme.ink);
  ImGui::PopFont();
}

bool draw_section(const Theme& theme, const char* title, const std::string& note) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {theme.half_space, 2 * theme.scale});
  ImGui::PushStyleColor(ImGuiCol_Header, ImGui::GetStyleColorVec4(ImGuiCol_TableHeaderBg));
  ImGui::PushStyleColor(ImGuiCol_HeaderHovered, theme.hovered);
  ImGui::PushStyleColor(ImGuiCol_HeaderActive, theme.hovered);
  const bool open = ImGui::CollapsingHeader(title, ImGuiTreeNodeFlags_DefaultOpen);
  ImGui::PopStyleColor(3);
  ImGui::PopStyleVar();
  if (!note.empty()) {
    const ImVec2 max = ImGui::GetItemRectMax(), min = ImGui::GetItemRectMin();
    const float room =
        max.x - min.x - ImGui::CalcTextSize(title).x - ImGui::GetFontSize() * 2 - 2 * theme.space;
    ImGui::PushFont(theme.small);
    const std::string text = fitting(note, room);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    if (room > ImGui::GetFontSize() * 3) {
      ImGui::GetWindowDrawList()->AddText(
          {max.x - size.x - theme.space, (min.y + max.y - size.y) / 2}, theme.ink_soft,
          text.c_str());
    }
    ImGui::PopFont();
  }
  return open;
}

void draw_note(const Theme& theme, const std::string& text) { draw_wrapped(text, theme.ink_soft); }

void draw_value(const Theme& theme, const char* label, const std::string& value,
                const char* explanation) {
  draw_labelled(theme, label, value, explanation, theme.text);
}

void draw_mono(const Theme& theme, const char* label, const std::string& value,
               const char* explanation) {
  draw_labelled(theme, label, value, explanation, theme.mono);
}

void draw_tiles(const Theme& theme, std::span<const Tile> tiles) {
  float widest = 0;
  ImGui::PushFont(theme.mono);
  for (const Tile& tile : tiles)
    widest = std::max(widest, ImGui::CalcTextSize(tile.value.c_str()).x);
  ImGui::PopFont();
  const float available = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
  const auto fitting_columns =
      static_cast<std::size_t>(std::max(1.0f, available / (widest + 2 * theme.space)));
  const std::size_t columns = std::min({fitting_columns, std::size_t{4}, tiles.size()});
  if (columns == 0) return;
  const float width = available / static_cast<float>(columns);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (i % columns != 0) ImGui::SameLine(left + width * static_cast<float>(i % columns));
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::PushFont(theme.small);
    draw_text(tiles[i].name, theme.ink_soft);
    ImGui::PopFont();
    ImGui::PushFont(theme.mono);
    draw_text(tiles[i].value, theme.ink);
    ImGui::PopFont();
    ImGui::PopStyleVar();
    ImGui::EndGroup();
    tooltip(tiles[i].explanation);
  }
}

bool draw_link(const Theme& theme, const LinkDesc& desc) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  ImGui::PushFont(theme.small);
  const float small = ImGui::GetTextLineHeight();
  ImGui::PopFont();
  const float bar = desc.part > 0 ? theme.half_space : 0;
  const std::size_t first = std::min(desc.detail.find('\n'), desc.detail.size());
  const float details = desc.detail.empty() ? 0 : first == desc.detail.size() ? 1 : 2;
  const float height = line + small * details + bar;
  ImGui::BeginGroup();
  ImGui::PushStyleColor(ImGuiCol_Header, theme.accent_soft);
  const bool clicked = ImGui::Selectable("##link", desc.is_selected,
                                         ImGuiSelectableFlags_AllowItemOverlap, {width, height});
  ImGui::PopStyleColor();
  const bool hovered = ImGui::IsItemHovered();
  float x = at.x;
  if (desc.chip != 0) {
    const float size = std::round(line * 0.62f), top = at.y + (line - size) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({x, top}, {x + size, top + size}, desc.chip,
                                              2 * theme.scale);
    x += size + theme.space * 0.75f;
  }
  ImGui::PushFont(theme.mono);
  const float note = desc.note.empty() ? 0 : ImGui::CalcTextSize(desc.note.c_str()).x;
  ImGui::PopFont();
  const std::string text =
      fitting(desc.text, at.x + width - x - (note > 0 ? note + theme.space : 0));
  ImGui::SetCursorScreenPos({x, at.y});
  draw_text(text, hovered ? theme.accent : theme.ink);
  if (note > 0) {
    ImGui::PushFont(theme.mono);
    ImGui::SetCursorScreenPos({at.x + width - note, at.y});
    draw_text(desc.note, theme.ink_soft);
    ImGui::PopFont();
  }
  if (!desc.detail.empty()) {
    ImGui::PushFont(theme.small);
    ImGui::SetCursorScreenPos({x, at.y + line});
    draw_text(fitting(desc.detail.substr(0, first), at.x + width - x), theme.ink_soft);
    if (details == 2) {
      ImGui::SetCursorScreenPos({x, at.y + line + small});
      draw_text(fitting(desc.detail.substr(first + 1), at.x + width - x), theme.ink_soft);
    }
    ImGui::PopFont();
  }
  if (bar > 0) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float top = at.y + height - bar + 1, right = at.x + width;
    draw->AddRectFilled({x, top}, {right, top + bar - 1}, with_alpha(theme.ink_faint, 0.18f), 2);
    draw->AddRectFilled(
        {x, top}, {x + (right - x) * static_cast<float>(std::min(1.0, desc.part)), top + bar - 1},
        with_alpha(theme.accent, 0.8f), 2);
  }
  ImGui::EndGroup();
  if (hovered && (text != desc.text || !desc.detail.empty())) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 30);
    draw_text(desc.text, theme.ink);
    if (!desc.detail.empty()) draw_text(desc.detail, theme.ink_soft);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  return clicked;
}

bool draw_action(const Theme& theme, const char* text, const char* explanation) {
  ImGui::PushFont(theme.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {theme.space * 0.75f, theme.half_space * 0.5f});
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  const bool clicked = ImGui::Button(text);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  tooltip(explanation);
  return clicked;
}

void next_action(const char* text) {
  const float right = ImGui::GetItemRectMax().x,
              end = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  if (right + ImGui::CalcTextSize(text).x + ImGui::GetStyle().ItemSpacing.x * 4 < end)
    ImGui::SameLine(0, ImGui::GetStyle().ItemSpacing.x / 2 + 2);
}

void draw_node_link(PanelContext& context, std::uint32_t node, const std::string& note,
                    const std::string& detail, double part) {
  const model::Graph& graph = *context.graph();
  const model::SelectedNode selected{graph.key(), node};
  ImGui::PushID(static_cast<int>(node));
  const bool clicked =
      draw_link(context.theme, {graph.node_name(node), note, detail, node_colour(context, node),
                                context.view.selection == model::Selection{selected}, part});
  draw_context_menu(context, selected);
  ImGui::PopID();
  if (ImGui::IsItemHovered()) context.view.hovered = selected;
  if (clicked) context.view.select(selected);
}

void draw_buffer_link(PanelContext& context, std::uint32_t buffer, const std::string& note,
                      const std::string& detail) {
  const model::Graph& graph = *context.graph();
  const model::SelectedBuffer selected{graph.key(), buffer};
  ImGui::PushID(static_cast<int>(buffer));
  const bool clicked =
      draw_link(context.theme, {graph.buffer_name(buffer), note, detail, 0,
                                context.view.selection == model::Selection{selected}});
  draw_context_menu(context, selected);
  ImGui::PopID();
  if (ImGui::IsItemHovered()) context.view.hovered = selected;
  if (clicked) context.view.select(selected);
}

void draw_list(const Theme& theme, const char* id, std::size_t count, ListRow row,
               const std::function<void(std::size_t)>& each) {
  static constexpr std::size_t kFirst = 8;
  ImGui::PushID(id);
  ImGuiStorage* storage = ImGui::GetStateStorage();
  const ImGuiID all_id = ImGui::GetID("all");
  const bool all = storage->GetBool(all_id) || count <= kFirst + 1;
  const std::size_t shown = all ? count : kFirst;
  ImGui::PushFont(theme.small);
  const float small = ImGui::GetTextLineHeight();
  ImGui::PopFont();
  const float height = ImGui::GetTextLineHeight() + small * static_cast<float>(row) +
                       ImGui::GetStyle().ItemSpacing.y;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(shown), height);
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      ImGui::PushID(i);
      each(static_cast<std::size_t>(i));
      ImGui::PopID();
    }
  }
  if (count > kFirst + 1) {
    const std::string text = all ? "Show fewer" : "Show all " + count_text(count);
    if (draw_action(theme, text.c_str())) storage->SetBool(all_id, !all);
  }
  ImGui::PopID();
}

std::string range_text(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
  if (begin == 0 && end == bytes) return "the whole buffer";
  return "[" + count_text(begin) + ", " + count_text(end) + ")";
}

std::string relation_text(const trace::BlockRelation& relation) {
  return "block b needs " + to_text(detail::BlockInterval{.factor = relation.factor,
                                                          .divisor = relation.divisor,
                                                          .low = relation.low,
                                                          .high = relation.high});
}

const char* access_name(trace::Access access) {
  switch (access) {
    case trace::Access::None: return "none";
    case trace::Access::Read: return "reads";
    case trace::Access::Write: return "writes";
    case trace::Access::ReadWrite: return "reads and writes";
  }
  return "?";
}

std::string hex_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016" PRIx64, value);
  return text;
}

std::string trace_time_text(const model::Document& document, trace::Time at) {
  return at == 0 ? std::string() : "at " + duration_text(static_cast<double>(at - document.first));
}

}  // namespace reprise::viewer
