// Draws label areas and their titles: at the upper border of the visible part of an area while
// boxes are readable, above or beside the outermost areas at low zoom.
#include <algorithm>
#include <utility>
#include <vector>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kMinTitle = 40;  // minimum title width, screen points

void draw_title(const GraphDrawContext& d, const GraphArea& area, const GraphArea::Column& column) {
  const Rect title = area_title(d, area, column);
  if (title.width() <= 0) return;
  const TextWidths& small = d.scene.key.small;
  const float s = d.theme().scale, mark = 4 * s, middle = (title.top + title.bottom) / 2,
              left = title.left + 6 * s;
  const bool hovered =
                 ImGui::IsMouseHoveringRect({title.left, title.top}, {title.right, title.bottom}),
             pinned = title.top > d.on_screen(column.first).top + 1;
  const ImU32 ink = hovered ? d.theme().ink : d.theme().ink_soft;
  if (pinned)  // in front of boxes
    d.list.AddRectFilled({title.left, title.top}, {title.right, title.bottom},
                         with_alpha(d.theme().panel, 0.9f));
  if (hovered)
    d.list.AddRectFilled({title.left, title.top}, {title.right, title.bottom},
                         with_alpha(d.theme().accent, 0.25f), d.theme().radius);
  d.list.AddTriangleFilled({left, middle - mark / 2}, {left + 2 * mark, middle - mark / 2},
                           {left + mark, middle + mark / 2}, ink);
  const std::string text =
      small.fit(label_name(d.scene.graph(), area.group + 1), title.right - left - 3 * mark);
  draw_graph_text(d.list, d.theme().small, {left + 3 * mark, middle - small.height / 2}, ink, text);
}

// Places titles above or beside areas whose boxes are unreadable.
class PlatePlacer {
 public:
  PlatePlacer(const GraphDrawContext& d, std::vector<Rect> names)
      : d_(d),
        small_(d.scene.key.small),
        scale_(d.theme().scale),
        min_(d.canvas.min()),
        max_(d.canvas.max()),
        used_(std::move(names)),
        area_of_(d.scene.graph().record().labels.size()) {
    for (const GraphArea& area : d.scene.areas) area_of_[area.group + 1] = &area;
  }

  void place(const GraphArea& area, const GraphArea::Column& column) {
    const Rect first = d_.on_screen(column.first), whole = d_.on_screen(column.bounds);
    if (std::min(whole.width(), whole.height()) < 1.5f * small_.height) return;
    const std::string name = label_name(d_.scene.graph(), area.group + 1);
    const float padding = 3 * scale_, width = small_.width(name) + 2 * padding,
                top = std::max(first.top, min_.y);
    const auto plate = [&](float left, float at) {
      return Rect{left, at, left + width, at + small_.height};
    };
    // Above the area, or beside its first part where a box is above it.
    const float above = std::max(first.top - small_.height, min_.y),
                left = std::max(first.left, min_.x);
    for (const Rect& rect :
         {plate(left, above), plate(first.left - width, top), plate(first.right, top)}) {
      if (rect.left >= min_.x && rect.right <= max_.x && add(area, rect, name)) return;
    }
    const std::string cut = small_.fit(name, first.width() - 2 * padding);
    if (cut.empty()) return;
    static_cast<void>(add(
        area, {left, above, left + small_.width(cut) + 2 * padding, above + small_.height}, cut));
  }
  [[nodiscard]] std::vector<GraphPlate> take() { return std::move(plates_); }

 private:
  [[nodiscard]] bool covers_box(const Rect& plate) {
    d_.scene.box_index.find(d_.on_plane(plate), found_);
    return !found_.empty();
  }
  // Outside the area around it, the title of a nested label would be read as that of a neighbour.
  [[nodiscard]] bool leaves_parent(const GraphArea& area, const Rect& plate) const {
    const std::uint32_t parent = d_.scene.graph().record().labels[area.group + 1].parent;
    if (parent == 0) return false;
    const auto& columns = area_of_[parent]->columns;
    return std::none_of(columns.begin(), columns.end(), [&](const GraphArea::Column& column) {
      const Rect around = d_.on_screen(column.bounds);
      return plate.left >= around.left && plate.right <= around.right;
    });
  }
  // False if the title would cover a box or another title, or leave the area around it.
  bool add(const GraphArea& area, const Rect& plate, const std::string& text) {
    if (covers_box(plate) || leaves_parent(area, plate) ||
        std::any_of(used_.begin(), used_.end(),
                    [&](const Rect& other) { return meets(other, plate); }))
      return false;
    const float margin = 4 * scale_;
    used_.push_back(
        {plate.left - margin, plate.top - margin, plate.right + margin, plate.bottom + margin});
    plates_.push_back({&area, plate, text});
    return true;
  }

  const GraphDrawContext& d_;
  const TextWidths& small_;
  float scale_;
  ImVec2 min_, max_;
  std::vector<Rect> used_;
  std::vector<const GraphArea*> area_of_;  // by label
  std::vector<GraphPlate> plates_;
  std::vector<std::uint32_t> found_;
};

void draw_plates(const GraphDrawContext& d, std::vector<Rect> names) {
  const float padding = 3 * d.theme().scale;
  for (const auto& [area, rect, text] : graph_plates(d, std::move(names))) {
    d.list.AddRectFilled({rect.left, rect.top}, {rect.right, rect.bottom},
                         with_alpha(d.theme().panel, 0.75f), d.theme().radius);
    draw_graph_text(d.list, d.theme().small, {rect.left + padding, rect.top},
                    area->depth == 0 ? d.theme().ink : d.theme().ink_soft, text);
  }
}

}  // namespace

std::vector<GraphPlate> graph_plates(const GraphDrawContext& d, std::vector<Rect> names) {
  const Rect visible = d.visible_rect(0);
  const bool zoomed_out =
      graph_detail(d.zoom()) >= GraphDetail::Plain;  // inner titles would cover boxes
  PlatePlacer placer(d, std::move(names));
  for (const GraphArea& area : d.scene.areas) {
    if (zoomed_out && area.depth > 0) break;
    for (const GraphArea::Column& column : area.columns) {
      if (meets(column.bounds, visible)) placer.place(area, column);
    }
  }
  return placer.take();
}

Rect area_title(const GraphDrawContext& d, const GraphArea& area, const GraphArea::Column& column) {
  if (graph_detail(d.zoom()) > GraphDetail::Full) return {};
  const Rect first = d.on_screen(column.first), whole = d.on_screen(column.bounds);
  const float height = d.scene.key.small.height + 2 * d.theme().scale,
              min_width = kMinTitle * d.theme().scale,
              pinned = d.canvas.min().y + static_cast<float>(area.depth) * height;
  Rect title{std::max(first.left, d.canvas.min().x), std::max(first.top, pinned), 0, 0};
  title.bottom = title.top + height;
  // Not cut at the border of the area where nothing is beside it.
  const float text =
      d.scene.key.small.width(label_name(d.scene.graph(), area.group + 1)) + 22 * d.theme().scale;
  title.right = std::max(title.left + text, first.right);
  std::vector<std::uint32_t> beside;
  d.scene.box_index.find(d.on_plane({first.right, title.top, title.right, title.bottom}), beside);
  if (!beside.empty())
    title.right = std::max(first.right, std::min(title.left + text, whole.right));
  return title.bottom > whole.bottom || title.width() < min_width ? Rect{} : title;
}

ImU32 area_colour(const Theme& theme, const GraphScene& scene, const GraphArea& area) {
  const std::uint32_t colour = scene.graph().record().labels[area.group + 1].color;
  return colour != 0 ? IM_COL32(colour >> 16 & 0xff, colour >> 8 & 0xff, colour & 0xff, 255)
                     : theme.ink_soft;
}

void draw_graph_areas(const GraphDrawContext& d) {
  const Rect visible = d.visible_rect(4);
  for (const GraphArea& area : d.scene.areas) {
    const Rect bounds = d.on_screen(area.bounds);
    if (!meets(area.bounds, visible) || std::min(bounds.width(), bounds.height()) < 6) continue;
    const ImU32 colour = area_colour(d.theme(), d.scene, area);
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

void draw_graph_titles(const GraphDrawContext& d, std::vector<Rect> names) {
  if (graph_detail(d.zoom()) > GraphDetail::Full) return draw_plates(d, std::move(names));
  const Rect visible = d.visible_rect(4);
  for (const GraphArea& area : d.scene.areas) {
    for (const GraphArea::Column& column : area.columns) {
      if (meets(column.bounds, visible)) draw_title(d, area, column);
    }
  }
}

}  // namespace reprise::viewer
