#include "panels/widgets/search_box.hpp"

#include <imgui_stdlib.h>
#include <algorithm>
#include <cmath>
#include <string>

#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kAllKinds = 0xffffffffu;
constexpr std::size_t kMaxLabels = 300;  // maximum number of labels in the menu

bool has_menu_filter(const model::Filter& filter) {
  return filter.kinds != kAllKinds || !filter.labels.empty();
}

// The node kinds in the graph, as a bit mask.
std::uint32_t kinds_of(const model::Graph& graph) {
  std::uint32_t kinds = 0;
  for (const trace::Node& node : graph.record().nodes)
    kinds |= 1u << static_cast<unsigned>(node.kind);
  return kinds;
}

void draw_kinds(const Theme& theme, const model::Graph& graph, model::Filter& filter) {
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.ink_soft), "Node kinds");
  const std::uint32_t present = kinds_of(graph);
  for (unsigned k = 0; k <= static_cast<unsigned>(trace::NodeKind::Other); ++k) {
    if ((present >> k & 1) == 0) continue;
    bool shown = (filter.kinds >> k & 1) != 0;
    if (ImGui::Checkbox(kind_name(static_cast<trace::NodeKind>(k)), &shown)) {
      filter.kinds ^= 1u << k;
      if ((filter.kinds & present) == present) filter.kinds = kAllKinds;
    }
  }
}

void draw_labels(const Theme& theme, const model::Graph& graph, model::Filter& filter) {
  const std::size_t count = graph.record().labels.size();
  if (count < 2) return;
  ImGui::Dummy({0, theme.half_space});
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.ink_soft), "Labels");
  ImGui::BeginChild("labels", {280 * theme.scale,
                               std::min(static_cast<float>(std::min(count - 1, kMaxLabels)), 9.0f) *
                                   ImGui::GetFrameHeightWithSpacing()});
  for (std::uint32_t label = 1; label < std::min(count, kMaxLabels + 1); ++label) {
    const auto found = std::find(filter.labels.begin(), filter.labels.end(), label);
    bool on = found != filter.labels.end();
    ImGui::PushID(static_cast<int>(label));
    if (ImGui::Checkbox(shortened(graph.label_path(label), 40).c_str(), &on)) {
      if (on) {
        filter.labels.push_back(label);
      } else {
        filter.labels.erase(found);
      }
    }
    ImGui::PopID();
  }
  ImGui::EndChild();
}

void draw_menu(PanelContext& context) {
  if (!ImGui::BeginPopup("kinds and labels")) return;
  model::Filter& filter = context.view.filter;
  if (context.graph() != nullptr) {
    draw_kinds(context.theme, *context.graph(), filter);
    draw_labels(context.theme, *context.graph(), filter);
  }
  ImGui::Dummy({0, context.theme.half_space});
  ImGui::BeginDisabled(!has_menu_filter(filter));
  if (ImGui::Button("Reset")) {
    filter.kinds = kAllKinds;
    filter.labels.clear();
  }
  ImGui::EndDisabled();
  ImGui::EndPopup();
}

// A line below the field, on top of the views: nothing moves while one types.
void draw_help(const Theme& theme, ImVec2 right_top, const std::string& error,
               const std::string& count) {
  const std::string text =
      error.empty()
          ? (count.empty() ? "" : count + "      ") +
                "name or number   step.cpp:12   kernel:gemm   label:\"a b\"   median>10us   "
                "-not   /conv.*bias/"
          : error;
  ImGui::PushFont(theme.small);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const float max = viewport.Size.x - 4 * theme.space;
  const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, max);
  const ImVec2 at{std::max(viewport.Pos.x + 2 * theme.space, right_top.x - size.x - theme.space),
                  right_top.y + theme.half_space};
  ImDrawList& draw = *ImGui::GetForegroundDrawList();
  const ImVec2 min{at.x - theme.space, at.y},
      end{at.x + size.x + theme.space, at.y + size.y + 2 * theme.half_space};
  draw.AddRectFilled(min, end, theme.raised, theme.radius);
  draw.AddRect(min, end, error.empty() ? theme.line : theme.error, theme.radius);
  draw.AddText(theme.small, font_size(theme.small), {at.x, at.y + theme.half_space},
               error.empty() ? theme.ink_soft : theme.error, text.c_str(), nullptr, max);
  ImGui::PopFont();
}

}  // namespace

int draw_search_box(PanelContext& context, const SearchResult& result, float width) {
  const Theme& theme = context.theme;
  model::Filter& filter = context.view.filter;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float x = ImGui::GetCursorPosX(), y = ImGui::GetCursorPosY(),
              side = ImGui::GetFrameHeight();
  const bool filters = !filter.is_empty(), has_room = width > 220 * theme.scale,
             is_bad = !result.error.empty();
  // The buttons keep their places while the user types.
  const float buttons = side * (has_room ? 4.0f : 2.0f);
  std::string count;
  if (filters && !is_bad && context.graph() != nullptr)
    count = count_text(result.matches) +
            (has_room ? " of " + count_text(context.graph()->node_count()) : "");
  int find = 0;

  if (context.view.focus_search) {
    ImGui::SetKeyboardFocusHere();
    context.view.focus_search = false;
  }
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {side * 0.95f, ImGui::GetStyle().FramePadding.y});
  ImGui::SetNextItemWidth(std::max(1.0f, width - buttons));
  const char* const hint = width > 240 * theme.scale ? "Search nodes, kernels, buffers" : "Search";
  if (ImGui::InputTextWithHint(
          "##search", hint, &filter.text,
          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll)) {
    find = 1;
    context.view.focus_search = true;
  }
  ImGui::PopStyleVar();
  const bool active = ImGui::IsItemActive();
  if (!filters && !active)
    tooltip(
        "Search names, labels, kernels and buffers (Ctrl+F). Other nodes are dimmed in all panels");
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (active || is_bad)
    draw.AddRect(at, {at.x + width - buttons, at.y + side}, is_bad ? theme.error : theme.accent,
                 theme.radius);
  draw_icon(draw, Icon::Search, {std::round(at.x + side * 0.5f), std::round(at.y + side * 0.5f)},
            side * 0.5f, active ? theme.accent : theme.ink_soft);
  const float wide = ImGui::CalcTextSize(count.c_str()).x,
              text_end = side + ImGui::CalcTextSize(filter.text.c_str()).x + theme.space;
  const bool fits = text_end + wide + theme.space < width - buttons;
  if (fits) {
    draw.AddText(
        {at.x + width - buttons - wide - theme.space, at.y + ImGui::GetStyle().FramePadding.y},
        result.matches == 0 ? theme.warning : theme.ink_soft, count.c_str());
  }
  if (active || is_bad)
    draw_help(theme, {at.x + width, at.y + side}, result.error, fits ? std::string() : count);

  ImGui::SetCursorPos({x + width - buttons, y});
  if (icon_button(theme, "filter", Icon::Filter, "Filter by kind or label",
                  has_menu_filter(filter) ? IconState::Active : IconState::Normal)) {
    ImGui::OpenPopup("kinds and labels");
  }
  ImGui::SetNextWindowPos({ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + theme.half_space},
                          ImGuiCond_Appearing, {1, 0});
  draw_menu(context);
  const auto state = [](bool is_enabled) {
    return is_enabled ? IconState::Normal : IconState::Disabled;
  };
  const bool has_matches = filters && result.matches != 0;
  if (has_room) {
    ImGui::SameLine(0, 0);
    if (icon_button(theme, "previous match", Icon::Previous, "Previous match (Shift+F3)",
                    state(has_matches)))
      find = -1;
    ImGui::SameLine(0, 0);
    if (icon_button(theme, "next match", Icon::Next, "Next match (F3)", state(has_matches)))
      find = 1;
  }
  ImGui::SameLine(0, 0);
  if (icon_button(theme, "clear search", Icon::Cross, "Clear the filter (Esc)", state(filters)))
    filter = {};
  return find;
}

}  // namespace reprise::viewer
