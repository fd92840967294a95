#include "panels/workspace/status_line.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Vertically centred text; returns its width.
float draw_text(const Theme& theme, float x, const std::string& text, ImU32 colour) {
  ImGui::SetCursorPos({x, std::round((status_height(theme) - ImGui::GetTextLineHeight()) / 2)});
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  return ImGui::GetItemRectSize().x;
}

std::string range_text(const PanelContext& context, const StatusViewModel& view_model) {
  const std::size_t all = context.entry->replays.size(),
                    first = std::min(context.view.range.first, all);
  const std::size_t count = std::min(context.view.range.count, all - first);
  if (count == 0) return "range: no replays";
  if (const auto& durations = context.view.range.durations) {
    const std::string amount = view_model.figures == nullptr
                                   ? ""
                                   : counted_text(view_model.figures->replays, "replay") + ", ";
    return "range: " + amount + duration_text(durations->min) + " to " +
           duration_text(durations->max);
  }
  return "range: " + counted_text(count, "replay") + ", " +
         count_text(context.entry->replays[first].replay) + " to " +
         count_text(context.entry->replays[first + count - 1].replay);
}

std::string amount_text(const PanelContext& context, const StatusViewModel& view_model) {
  const trace::GraphVersion& record = context.graph()->record();
  std::string text = counted_text(record.nodes.size(), "node") + ", " +
                     counted_text(record.edges.size(), "edge") + ", " +
                     counted_text(context.entry->replays.size(), "replay");
  if (view_model.figures != nullptr && !context.view.has_range())
    text += ", " + sampled_text(*context.entry, view_model.figures->sampled);
  if (record.slab_bytes > 0) text += ", slab " + bytes_text(record.slab_bytes);
  return text;
}

// The last line of the program that the viewer runs, or how it ended, where there is room. Returns
// true if it was clicked.
bool draw_output(const Theme& theme, const StatusViewModel& view_model, float from, float to) {
  const bool has_ended = !view_model.program_end.empty();
  if (!has_ended && view_model.program_output.empty()) return false;
  const std::string text = has_ended ? view_model.program_end : view_model.program_output.back();
  const float character = ImGui::CalcTextSize("0").x;
  if (to - from < 12 * character) return false;
  const std::string shown = shortened(text, static_cast<std::size_t>((to - from) / character));
  draw_text(theme, from, shown, has_ended ? theme.ink : theme.ink_faint);
  tooltip("Click to show or hide the output of the program");
  return ImGui::IsItemClicked();
}

}  // namespace

FeedText feed_text(const Theme& theme, const model::FeedStatus& status, const std::string& name) {
  switch (status.state) {
    case model::FeedState::Opening: return {"opening " + name, status.reason, theme.accent};
    case model::FeedState::Loading:
      return {"loading, " + percent_text(status.progress), status.reason, theme.accent};
    case model::FeedState::Ready:
      return {status.reason.empty() ? "ready" : "partially loaded", status.reason,
              status.reason.empty() ? theme.good : theme.warning};
    case model::FeedState::Live: return {"live", status.reason, theme.good};
    case model::FeedState::Ended:
      return {"program exited",
              status.reason.empty() ? "all received data is shown" : status.reason,
              theme.ink_faint};
    case model::FeedState::Failed: return {"failed", status.reason, theme.error};
  }
  return {};
}

float status_height(const Theme& theme) { return std::round(24 * theme.scale); }

bool draw_status(PanelContext& context, const StatusViewModel& view_model) {
  const Theme& theme = context.theme;
  ImGui::PushFont(theme.small);
  const float height = status_height(theme), width = ImGui::GetWindowWidth();
  const ImVec2 window = ImGui::GetWindowPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();

  std::string right;
  if (context.entry != nullptr) right = amount_text(context, view_model);
  const float right_width = ImGui::CalcTextSize(right.c_str()).x;

  FeedText feed = feed_text(theme, view_model.status, shortened(context.name, 40));
  if (context.is_live && context.view.paused) feed = {"paused, still recording", {}, theme.warning};
  if (!view_model.status.record_error.empty())
    feed = {"the recording stopped", view_model.status.record_error, theme.error};
  if (!view_model.error.empty())
    feed = {"part of the trace is unreadable", view_model.error, theme.error};
  float x = theme.space;
  draw.AddCircleFilled({window.x + x + 4 * theme.scale, window.y + std::round(height / 2)},
                       4 * theme.scale, feed.colour);
  x += 14 * theme.scale;
  const float left_end = width - right_width - 3 * theme.space;
  std::string left = feed.reason.empty() ? feed.state : feed.state + ": " + feed.reason;
  const float left_width = ImGui::CalcTextSize(left.c_str()).x;
  const bool fits_beside = x + left_width < left_end;
  if (x + left_width > width)
    left = shortened(left, static_cast<std::size_t>(std::max(
                               8.0f, (width - x - theme.space) / (ImGui::GetFontSize() * 0.55f))));
  x += draw_text(theme, x, left,
                 view_model.status.state == model::FeedState::Failed || !view_model.error.empty()
                     ? theme.error
                     : theme.ink_soft) +
       2 * theme.space;
  tooltip(feed.reason);
  // A progress bar along the upper edge.
  if (view_model.status.state == model::FeedState::Loading) {
    draw.AddRectFilled(
        window,
        {window.x + width * static_cast<float>(std::clamp(view_model.status.progress, 0.0, 1.0)),
         window.y + 2 * theme.scale},
        theme.accent);
  }
  if (context.entry != nullptr && context.view.has_range()) {
    const std::string range = range_text(context, view_model);
    const float range_width = ImGui::CalcTextSize(range.c_str()).x + height + theme.space;
    if (x + range_width < left_end) {
      draw.AddRectFilled({window.x + x - theme.half_space, window.y + 2},
                         {window.x + x + range_width, window.y + height - 2}, theme.accent_soft,
                         theme.radius);
      draw_text(theme, x, range, theme.ink);
      ImGui::SetCursorPos(
          {x + range_width - height + 2, std::round((height - ImGui::GetFrameHeight()) / 2)});
      if (icon_button(theme, "whole run", Icon::Cross, "Clear the range (Esc)"))
        context.view.range = {};
      x += range_width + theme.space;
    }
  }
  const bool is_clicked = draw_output(theme, view_model, x, left_end);
  if (fits_beside && !right.empty())
    draw_text(theme, width - right_width - theme.space, right, theme.ink_soft);
  ImGui::PopFont();
  return is_clicked;
}

}  // namespace reprise::viewer
