#include "panels/timeline/timeline_labels.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Shortens a name to the available width.
std::string fit_text(const ImFont* font, const std::string& text, float available) {
  const float width = font->CalcTextSizeA(font->FontSize, 1e9f, 0, text.c_str()).x;
  if (width <= available) return text;
  return shortened(text, static_cast<std::size_t>(std::max(
                             static_cast<float>(text.size()) * available / width - 1, 4.0f)));
}

void draw_triangle(ImDrawList& list, const Theme& theme, ImVec2 at, bool is_open) {
  const float mark = 4 * theme.scale;
  if (is_open) {
    list.AddTriangleFilled({at.x - mark, at.y - mark / 2}, {at.x + mark, at.y - mark / 2},
                           {at.x, at.y + mark / 2}, theme.ink_soft);
  } else {
    list.AddTriangleFilled({at.x - mark / 2, at.y - mark}, {at.x + mark / 2, at.y},
                           {at.x - mark / 2, at.y + mark}, theme.ink_soft);
  }
}

template <class Rows, class Id>
const model::BusyTime* busy_of(const Rows& rows, const Id& id) {
  const auto found = rows.find(id);
  return found == rows.end() ? nullptr : &found->second.busy;
}

// A row of the shown replay's nodes; null if the replay has none in this row.
const model::BusyTime* busy_of_nodes(const TimelineScene& shown, const TimelineRow& row) {
  for (std::size_t i = 0; i < shown.rows.rows.size(); ++i) {
    const model::TimelineRow& of = shown.rows.rows[i];
    if (of.group == row.id && of.level == row.level) return &shown.row_busy[i];
  }
  return nullptr;
}

bool can_resize(const TimelineRow& row) {
  return row.kind != TimelineRow::Kind::Title && row.kind != TimelineRow::Kind::Folded;
}

// Resizes rows; true while the mouse is at an edge or drags it.
bool handle_edges(const TimelineDrawContext& dc, TimelineOpened& opened, TimelineResize& resize) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float scale = dc.context.theme.scale;
  if (resize.is_active) {
    resize.is_active = ImGui::IsMouseDown(ImGuiMouseButton_Left);
    opened.heights[resize.rows] =
        std::clamp((resize.height + (mouse.y - resize.mouse) / resize.count) / scale, kMinRowHeight,
                   kMaxRowHeight);
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    return true;
  }
  float count = 0;
  std::pair<TimelineRow::Kind, model::GraphKey> rows;
  for (const TimelineRow& row : dc.layout.rows) {
    if (!can_resize(row)) continue;
    count = std::pair(row.kind, row.graph) == rows ? count + 1 : 1;
    rows = {row.kind, row.graph};
    if (std::abs(mouse.y - (dc.top + row.top + row.height + scale)) > 3 * scale) continue;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      opened.heights.erase(rows);
    } else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      resize = {true, rows, row.height, mouse.y, count};
    }
    return true;
  }
  return false;
}

template <class Set, class Key>
void toggle(Set& set, const Key& key) {
  if (set.erase(key) == 0) set.insert(key);
}

}  // namespace

std::optional<double> busy_in_view(const TimelineDrawContext& dc, const model::Activity& activity,
                                   const TimelineScene* shown, const TimelineRow& row) {
  const CanvasBounds visible = dc.canvas.visible_area();
  TimelineSpan span{dc.time_of(visible.left), dc.time_of(visible.right)};
  const auto share_of = [&](const model::BusyTime* busy) -> std::optional<double> {
    if (busy == nullptr || span.ended <= span.started) return std::nullopt;
    return static_cast<double>(busy->between(span.started, span.ended)) / span.length();
  };
  switch (row.kind) {
    case TimelineRow::Kind::Queue: return share_of(busy_of(activity.queues, row.id));
    case TimelineRow::Kind::Launches: return share_of(busy_of(activity.threads, row.id));
    case TimelineRow::Kind::Replays: return share_of(busy_of(activity.graphs, row.graph));
    case TimelineRow::Kind::Ranges:
      return share_of(
          busy_of(dc.host.rows, std::pair(row.id, static_cast<std::uint16_t>(row.level))));
    case TimelineRow::Kind::Idle: {
      const auto found = activity.idle.find(row.id);
      if (found == activity.idle.end()) return std::nullopt;
      double sum = 0;
      for (const model::BusyTime& cause : found->second.by_cause)
        sum += share_of(&cause).value_or(0);
      return sum;
    }
    case TimelineRow::Kind::Nodes:
      if (shown == nullptr || !(row.graph == dc.context.view.graph)) return std::nullopt;
      span = {std::max(span.started, shown->times.started),
              std::min(span.ended, shown->times.ended)};
      return share_of(busy_of_nodes(*shown, row));
    case TimelineRow::Kind::Title:
    case TimelineRow::Kind::Rank:
    case TimelineRow::Kind::Folded:
    case TimelineRow::Kind::Active:
    case TimelineRow::Kind::Labels: break;
  }
  return std::nullopt;
}

void draw_timeline_labels(const TimelineDrawContext& dc, const model::Activity& activity,
                          const TimelineScene* shown, ImVec2 min, ImVec2 max) {
  const Theme& theme = dc.context.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImFont* const font = theme.small;
  const float size = font->FontSize, left = min.x + theme.half_space + 12 * theme.scale;
  list.PushClipRect(min, max, true);
  for (const TimelineRow& row : dc.layout.rows) {
    const float y = dc.top + row.top;
    if (y + row.height < min.y || y > max.y) continue;
    const float text_y = std::floor(y + (row.height - size) / 2);
    if (row.folds)
      draw_triangle(list, theme, {min.x + theme.half_space + 4 * theme.scale, y + row.height / 2},
                    row.is_open);
    if (row.kind == TimelineRow::Kind::Title) {
      const float below = y + row.height - 2;
      list.AddText(font, size, {row.folds ? left : min.x + theme.half_space, text_y},
                   theme.ink_soft, row.label.c_str());
      list.AddLine({min.x, below}, {max.x, below}, theme.line);
      continue;
    }
    float right = max.x - theme.half_space;
    std::string value;
    if (const auto share = busy_in_view(dc, activity, shown, row)) value = percent_text(*share);
    if (row.kind == TimelineRow::Kind::Active && shown != nullptr &&
        row.graph == dc.context.view.graph)
      value = "max " + count_text(shown->active.max_active()) +
              (shown->groups.size() > 1 ? " of " + count_text(shown->groups.size()) : "");
    if (!value.empty() && row.height >= size) {
      const float width = font->CalcTextSizeA(size, 1e9f, 0, value.c_str()).x;
      list.AddText(font, size, {right - width, text_y}, theme.ink_faint, value.c_str());
      right -= width + theme.half_space;
    }
    if (row.label.empty()) continue;
    list.AddText(font, size, {left, text_y}, theme.ink,
                 fit_text(font, row.label, right - left).c_str());
  }
  list.PopClipRect();
}

void draw_timeline_backgrounds(const TimelineDrawContext& dc) {
  const Theme& theme = dc.context.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const TimelineRow& row : dc.layout.rows) {
    const float y = dc.top + row.top;
    if (row.kind == TimelineRow::Kind::Title) {
      list.AddLine({dc.canvas.min().x, y + row.height - 2}, {dc.canvas.max().x, y + row.height - 2},
                   theme.line);
      const float line = theme.small->FontSize;
      list.AddText(theme.small, line,
                   {dc.canvas.min().x + theme.half_space, std::floor(y + (row.height - line) / 2)},
                   theme.ink_faint, row.detail.c_str());
    } else if (row.kind == TimelineRow::Kind::Folded) {
      const float line = theme.small->FontSize;
      list.AddText(theme.small, line,
                   {dc.canvas.min().x + theme.half_space, std::floor(y + (row.height - line) / 2)},
                   theme.ink_faint, row.detail.c_str());
    } else if (row.kind == TimelineRow::Kind::Nodes) {
      list.AddRectFilled({dc.canvas.min().x, y}, {dc.canvas.max().x, y + row.height},
                         with_alpha(theme.ink, 0.03f));
    }
  }
}

void draw_timeline_legend(const TimelineDrawContext& dc, float names_end, float left) {
  const Theme& theme = dc.context.theme;
  const Canvas& canvas = dc.canvas;
  const float pad = theme.space, column = canvas.min().x - left - 2 * pad,
              width = std::min(150 * theme.scale, column);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({left, canvas.min().y}, canvas.max(), true);
  // Draw once outside the clip rectangle to measure the height.
  const float height =
      draw_colour_legend(dc.context, {canvas.max().x + 1e5f, canvas.min().y}, width);
  if (names_end < canvas.max().y - height - pad)
    draw_colour_legend(dc.context, {left + pad, canvas.max().y - height - pad}, width);
  list.PopClipRect();
}

void handle_timeline_names(const TimelineDrawContext& dc, ImVec2 min, ImVec2 max,
                           TimelineOpened& opened, TimelineResize& resize) {
  const bool is_inside = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(min, max);
  if ((!is_inside && !resize.is_active) || handle_edges(dc, opened, resize)) return;
  const float y = ImGui::GetIO().MousePos.y - dc.top;
  const bool is_clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const auto& rows = dc.layout.rows;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const TimelineRow& row) {
    return y >= row.top && y < row.top + row.height;
  });
  if (found == rows.end()) return;
  const TimelineRow& row = *found;
  const char* const verb = row.is_open ? "hide" : "show";
  if (!row.folds) {
    if (!row.label.empty()) ImGui::SetTooltip("%s", row.label.c_str());
    return;
  }
  switch (row.kind) {
    case TimelineRow::Kind::Title:
      ImGui::SetTooltip("Click to %s the rows of this section", verb);
      if (is_clicked) toggle(opened.closed_sections, std::pair(row.section, row.id));
      break;
    case TimelineRow::Kind::Ranges:
      ImGui::SetTooltip("%s\nClick to %s nested ranges and launches", row.label.c_str(), verb);
      if (is_clicked) toggle(opened.closed_threads, row.id);
      break;
    case TimelineRow::Kind::Rank:
      ImGui::SetTooltip("%s\nClick to %s its threads, queues and graphs", row.detail.c_str(), verb);
      if (is_clicked) toggle(opened.ranks, row.id);
      break;
    case TimelineRow::Kind::Folded:
      ImGui::SetTooltip("Click to %s the other ranks", verb);
      if (is_clicked) opened.folded = !row.is_open;
      break;
    default:
      ImGui::SetTooltip("%s\nClick to %s its nodes", row.label.c_str(), verb);
      if (is_clicked) opened.graphs[row.graph] = !row.is_open;
  }
}

float draw_timeline_scrollbar(const Theme& theme, float scroll, float height, float visible_height,
                              ImVec2 at) {
  const float max_scroll = std::max(height - visible_height, 0.0f);
  if (max_scroll <= 0) return 0;
  const float width = 9 * theme.scale,
              thumb = std::max(visible_height * visible_height / height, 24 * theme.scale),
              travel = std::max(visible_height - thumb, 1.0f);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("rows", {width, std::max(visible_height, 1.0f)});
  if (ImGui::IsItemActive()) scroll += ImGui::GetIO().MouseDelta.y * max_scroll / travel;
  if (ImGui::IsItemHovered()) scroll -= ImGui::GetIO().MouseWheel * 40 * theme.scale;
  scroll = std::clamp(scroll, 0.0f, max_scroll);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = at.y + scroll / max_scroll * travel;
  const ImU32 colour = ImGui::IsItemActive()    ? theme.accent
                       : ImGui::IsItemHovered() ? theme.ink_soft
                                                : theme.ink_faint;
  list.AddRectFilled({at.x + 2, top}, {at.x + width - 1, top + thumb}, colour, width / 2);
  return scroll;
}

}  // namespace reprise::viewer
