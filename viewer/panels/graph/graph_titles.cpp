// Draws label areas and their titles: at the upper border of an area while boxes are readable,
// above the outermost areas at low zoom.
#include <algorithm>
#include <vector>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kMinTitle = 40;  // minimum title width, screen points

ImU32 area_colour(const GraphDrawContext& d, const GraphArea& area) {
  const std::uint32_t colour = d.scene.graph().record().labels[area.group + 1].color;
  return colour != 0 ? IM_COL32(colour >> 16 & 0xff, colour >> 8 & 0xff, colour & 0xff, 255)
                     : d.theme().ink_soft;
}

void draw_title(const GraphDrawContext& d, const GraphArea& area) {
  const Rect title = area_title(d, area);
  if (title.width() <= 0) return;
  const TextWidths& small = d.scene.key.small;
  const float s = d.theme().scale, mark = 4 * s, middle = (title.top + title.bottom) / 2,
              left = title.left + 6 * s;
  const bool hovered =
      ImGui::IsMouseHoveringRect({title.left, title.top}, {title.right, title.bottom});
  const ImU32 ink = hovered ? d.theme().ink : d.theme().ink_soft;
  if (hovered)
    d.list.AddRectFilled({title.left, title.top}, {title.right, title.bottom},
                         with_alpha(d.theme().accent, 0.25f), d.theme().radius);
  d.list.AddTriangleFilled({left, middle - mark / 2}, {left + 2 * mark, middle - mark / 2},
                           {left + mark, middle + mark / 2}, ink);
  const std::string text =
      small.fit(label_name(d.scene.graph(), area.group + 1), title.right - left - 3 * mark);
  draw_graph_text(d.list, d.theme().small, {left + 3 * mark, middle - small.height / 2}, ink, text);
}

// Draws titles above areas whose boxes are unreadable: outer labels first, without overlap.
void draw_plates(const GraphDrawContext& d) {
  const TextWidths& small = d.scene.key.small;
  const float s = d.theme().scale, padding = 3 * s, height = small.height;
  const Rect visible = d.visible_rect(0);
  const bool zoomed_out =
      graph_detail(d.zoom()) >= GraphDetail::Plain;  // inner titles would cover boxes
  std::vector<Rect> used;
  for (const GraphArea& area : d.scene.areas) {
    if (!meets(area.bounds, visible) || (zoomed_out && area.depth > 0)) continue;
    const Rect r = d.on_screen(area.parts.front()), whole = d.on_screen(area.bounds);
    if (std::min(whole.width(), whole.height()) < 1.5f * height) continue;
    const std::string name = small.fit(label_name(d.scene.graph(), area.group + 1),
                                       std::max(r.width(), whole.width() * 0.6f) - 2 * padding);
    if (name.empty()) continue;
    const float plate_width = small.width(name) + 2 * padding;
    const bool at_left = graph_detail(d.zoom()) == GraphDetail::Blocks &&
                         d.scene.key.direction == Direction::Down;  // no space between ranks
    const Rect plate = at_left ? Rect{whole.left - plate_width, r.top, whole.left, r.top + height}
                               : Rect{r.left, r.top - height, r.left + plate_width, r.top};
    if (std::any_of(used.begin(), used.end(),
                    [&](const Rect& other) { return meets(other, plate); }))
      continue;
    used.push_back(
        {plate.left - 4 * s, plate.top - 4 * s, plate.right + 4 * s, plate.bottom + 4 * s});
    d.list.AddRectFilled({plate.left, plate.top}, {plate.right, plate.bottom},
                         with_alpha(d.theme().panel, 0.75f), d.theme().radius);
    draw_graph_text(d.list, d.theme().small, {plate.left + padding, plate.top},
                    area.depth == 0 ? d.theme().ink : d.theme().ink_soft, name);
  }
}

}  // namespace

Rect area_title(const GraphDrawContext& d, const GraphArea& area) {
  if (graph_detail(d.zoom()) > GraphDetail::Full) return {};
  const Rect part = d.on_screen(area.parts.front());
  const float height = d.scene.key.small.height + 2 * d.theme().scale;
  if (part.width() < kMinTitle * d.theme().scale) return {};
  return {part.left, part.top, part.right, part.top + height};
}

void draw_graph_areas(const GraphDrawContext& d) {
  const Rect visible = d.visible_rect(4);
  for (const GraphArea& area : d.scene.areas) {
    const Rect bounds = d.on_screen(area.bounds);
    if (!meets(area.bounds, visible) || std::min(bounds.width(), bounds.height()) < 6) continue;
    const ImU32 colour = area_colour(d, area);
    for (const Rect& part : area.parts) {
      if (!meets(part, visible)) continue;
      const Rect r = d.on_screen(part);
      d.list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, with_alpha(colour, 0.07f));
    }
    if (std::min(bounds.width(), bounds.height()) < 24) continue;
    const ImU32 line = with_alpha(colour, 0.32f);
    for (const GraphLine& l : area.outline) {
      const Rect box{std::min(l.from.x, l.to.x), std::min(l.from.y, l.to.y),
                     std::max(l.from.x, l.to.x), std::max(l.from.y, l.to.y)};
      if (meets(box, visible)) d.list.AddLine(d.at(l.from), d.at(l.to), line);
    }
  }
}

void draw_graph_titles(const GraphDrawContext& d) {
  if (graph_detail(d.zoom()) > GraphDetail::Full) return draw_plates(d);
  const Rect visible = d.visible_rect(4);
  for (const GraphArea& area : d.scene.areas) {
    if (meets(area.bounds, visible)) draw_title(d, area);
  }
}

}  // namespace reprise::viewer
