#include <algorithm>

#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// The direction of the hatching distinguishes the kinds without relying on colour.
void hatch(ImDrawList& list, const TimelineBox& box, ImU32 colour, model::GapKind kind,
           float scale) {
  if (kind == model::GapKind::Predecessor || box.width() < 4) return;
  const float height = box.max.y - box.min.y, step = 8 * scale;
  for (float x = box.min.x - height; x < box.max.x; x += step) {
    // From (x, bottom) to (x + height, top), clipped to the box.
    const float from = std::max(x, box.min.x), to = std::min(x + height, box.max.x);
    if (to <= from) continue;
    const float a = from - x, b = to - x;
    if (kind == model::GapKind::FalseDependency) {
      list.AddLine({from, box.max.y - a}, {to, box.max.y - b}, colour);
    } else {
      list.AddLine({from, box.min.y + a}, {to, box.min.y + b}, colour);
    }
  }
}

std::string gap_text(const model::Graph& graph, const model::Gap& gap) {
  switch (gap.kind) {
    case model::GapKind::Predecessor:
      return gap.predecessor == trace::kNone ? "wait"
                                             : "wait for " + graph.node_name(gap.predecessor);
    case model::GapKind::FalseDependency:
      return gap.predecessor == trace::kNone
                 ? "false dependency"
                 : "false dependency on " + graph.node_name(gap.predecessor);
    case model::GapKind::LaunchBubble: break;
  }
  return "bubble " + duration_text(static_cast<double>(gap.ended - gap.started));
}

}  // namespace

ImU32 gap_colour(const Theme& theme, model::GapKind kind) {
  switch (kind) {
    case model::GapKind::Predecessor: return theme.gap_predecessor;
    case model::GapKind::FalseDependency: return theme.gap_false;
    case model::GapKind::LaunchBubble: break;
  }
  return theme.gap_bubble;
}

const char* gap_name(model::GapKind kind) {
  switch (kind) {
    case model::GapKind::Predecessor: return "waiting on dependency";
    case model::GapKind::FalseDependency: return "false dependency";
    case model::GapKind::LaunchBubble: break;
  }
  return "launch bubble";
}

void draw_timeline_gaps(TimelineDrawContext& dc, const TimelineScene& scene) {
  const Theme& theme = dc.context.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const CanvasBounds bounds = dc.canvas.visible_area();
  const double min_length = 1 / dc.canvas.zoom_x();
  for (std::size_t row = 0; row < scene.rows.rows.size(); ++row) {
    const model::TimelineRow& of = scene.rows.rows[row];
    const TimelineRow* const layout_row =
        dc.layout.find(TimelineRow::Kind::Nodes, of.group, of.level, dc.context.view.graph);
    if (layout_row == nullptr || !dc.is_visible(*layout_row)) continue;
    const std::span<const model::Gap> gaps = scene.row_of_gaps(row);
    const auto first = std::partition_point(gaps.begin(), gaps.end(), [&](const auto& g) {
      return dc.plane_of(g.ended) < bounds.left;
    });
    for (auto gap = first; gap != gaps.end() && dc.plane_of(gap->started) <= bounds.right; ++gap) {
      const bool is_on = gap->kind == model::GapKind::Predecessor ? dc.options.predecessor
                         : gap->kind == model::GapKind::FalseDependency
                             ? dc.options.false_dependency
                             : dc.options.bubble;
      if (!is_on || static_cast<double>(gap->ended - gap->started) < min_length) continue;
      TimelineBox box = box_of(dc, *layout_row, dc.plane_of(gap->started), dc.plane_of(gap->ended));
      box.min.y += 3 * theme.scale;
      box.max.y -= 3 * theme.scale;
      const ImU32 colour = gap_colour(theme, gap->kind);
      const bool hovered = is_below_mouse(dc, box);
      list.AddRectFilled(box.min, box.max, with_alpha(colour, hovered ? 0.42f : 0.22f));
      hatch(list, box, with_alpha(colour, 0.75f), gap->kind, theme.scale);
      if (box.width() > 70 * theme.scale)
        draw_text_in(dc, box, gap_text(*dc.context.graph(), *gap), theme.ink_soft);
      if (hovered) dc.hit = GapHit{&scene, &*gap};
    }
    const auto items = scene.items(row);
    if (items.empty() || items.back().ended >= scene.times.ended) continue;
    const TimelineBox rest =
        box_of(dc, *layout_row, dc.plane_of(items.back().ended), dc.plane_of(scene.times.ended));
    if (rest.width() > 70 * theme.scale) draw_text_in(dc, rest, "idle", theme.ink_faint);
  }
}

}  // namespace reprise::viewer
