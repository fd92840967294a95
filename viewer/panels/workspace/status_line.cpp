#include "panels/workspace/status_line.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Text in the middle of the line; returns its width.
float put(const Theme& theme, float x, const std::string& text, ImU32 colour) {
  ImGui::SetCursorPos({x, std::round((status_height(theme) - ImGui::GetTextLineHeight()) / 2)});
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  return ImGui::GetItemRectSize().x;
}

std::string range_text(const PanelContext& context) {
  const std::size_t all = context.entry->replays.size(),
                    first = std::min(context.view.range.first, all);
  const std::size_t count = std::min(context.view.range.count, all - first);
  if (count == 0) return "range: no replays";
  return "range: " + count_text(count) + (count == 1 ? " replay, " : " replays, ") +
         count_text(context.entry->replays[first].replay) + " to " +
         count_text(context.entry->replays[first + count - 1].replay);
}

std::string amount_text(const PanelContext& context, const StatusViewModel& view_model) {
  const trace::GraphVersion& record = context.graph()->record();
  std::string text = count_text(record.nodes.size()) + " nodes, " +
                     count_text(record.edges.size()) + " edges, " +
                     count_text(context.entry->replays.size()) +
                     (context.entry->replays.size() == 1 ? " replay" : " replays");
  if (view_model.figures != nullptr && !context.view.has_range())
    text += ", " + sampled_text(*context.entry, view_model.figures->sampled);
  if (record.slab_bytes > 0) text += ", slab " + bytes_text(record.slab_bytes);
  return text;
}

}  // namespace

FeedText feed_text(const Theme& theme, const model::FeedStatus& status, const std::string& name) {
  switch (status.state) {
    case model::FeedState::Opening: return {"opening " + name, status.reason, theme.accent};
    case model::FeedState::Loading:
      return {"loading, " + percent_text(status.progress), status.reason, theme.accent};
    case model::FeedState::Ready:
      return {status.reason.empty() ? "ready" : "read, as far as it goes", status.reason,
              status.reason.empty() ? theme.good : theme.warning};
    case model::FeedState::Live: return {"live", status.reason, theme.good};
    case model::FeedState::Ended:
      return {"session ended", status.reason.empty() ? "all that it sent is here" : status.reason,
              theme.ink_faint};
    case model::FeedState::Failed: return {"failed", status.reason, theme.error};
  }
  return {};
}

float status_height(const Theme& theme) { return std::round(24 * theme.scale); }

void draw_status(PanelContext& context, const StatusViewModel& view_model) {
  const Theme& theme = context.theme;
  ImGui::PushFont(theme.small);
  const float height = status_height(theme), width = ImGui::GetWindowWidth();
  const ImVec2 window = ImGui::GetWindowPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();

  std::string right;
  if (context.entry != nullptr) right = amount_text(context, view_model);
  const float right_width = ImGui::CalcTextSize(right.c_str()).x;

  FeedText feed = feed_text(theme, view_model.status, shortened(context.name, 40));
  if (context.is_live && context.view.paused)
    feed = {"paused: the trace goes on", {}, theme.warning};
  if (!view_model.error.empty())
    feed = {"a part of the trace cannot be read", view_model.error, theme.error};
  float x = theme.space;
  draw.AddCircleFilled({window.x + x + 4 * theme.scale, window.y + std::round(height / 2)},
                       4 * theme.scale, feed.colour);
  x += 14 * theme.scale;
  const float room = width - right_width - 3 * theme.space;
  std::string what = feed.reason.empty() ? feed.what : feed.what + ": " + feed.reason;
  const float wide = ImGui::CalcTextSize(what.c_str()).x;
  const bool fits_beside = x + wide < room;
  if (x + wide > width)
    what = shortened(what, static_cast<std::size_t>(std::max(
                               8.0f, (width - x - theme.space) / (ImGui::GetFontSize() * 0.55f))));
  x += put(theme, x, what,
           view_model.status.state == model::FeedState::Failed || !view_model.error.empty()
               ? theme.error
               : theme.ink_soft) +
       2 * theme.space;
  tooltip(feed.reason);
  if (view_model.status.state ==
      model::FeedState::Loading) {  // how far, as a line along the upper edge
    draw.AddRectFilled(
        window,
        {window.x + width * static_cast<float>(std::clamp(view_model.status.progress, 0.0, 1.0)),
         window.y + 2 * theme.scale},
        theme.accent);
  }
  if (context.entry != nullptr && context.view.has_range()) {
    const std::string range = range_text(context);
    const float wide_range = ImGui::CalcTextSize(range.c_str()).x + height + theme.space;
    if (x + wide_range < room) {
      draw.AddRectFilled({window.x + x - theme.half_space, window.y + 2},
                         {window.x + x + wide_range, window.y + height - 2}, theme.accent_soft,
                         theme.radius);
      put(theme, x, range, theme.ink);
      ImGui::SetCursorPos(
          {x + wide_range - height + 2, std::round((height - ImGui::GetFrameHeight()) / 2)});
      if (icon_button(theme, "whole run", Icon::Cross, "Back to all replays (Esc)"))
        context.view.range = {};
    }
  }
  if (fits_beside && !right.empty())
    put(theme, width - right_width - theme.space, right, theme.ink_soft);
  ImGui::PopFont();
}

}  // namespace reprise::viewer
