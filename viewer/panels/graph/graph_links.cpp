// Draws the links of a graph as curves that leave and enter boxes along the layout direction, or
// bundles of links at low zoom. Links added by lowering (lane, entry/exit) are dashed.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "panels/graph/graph_draw_context.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxLines = 2500, kMaxCurves = 800;  // per frame, but for those on top
// Screen points: size of the cells between which links form a bundle, while boxes are drawn, and
// while blocks are.
constexpr float kBoxCell = 6, kBlockCells = 20;
constexpr float kSamePoint = 1;  // screen points between the points of a far link, at least
constexpr float kMaxBundle = 4;  // thickness at scale 1

class LinkPainter {
 public:
  explicit LinkPainter(const GraphDrawContext& d)
      : d_(d),
        near_(graph_detail(d.zoom()) <= GraphDetail::Name),
        down_(d.scene.key.direction == Direction::Down) {}

  void draw() {
    find();
    bundle();
    alpha_ = near_ ? 0.9f
                   : std::clamp(0.8f * std::sqrt(900 / static_cast<float>(bundles_.size() + 1)),
                                0.16f, 0.7f);
    for (const GraphBundle& bundle : bundles_)
      draw(bundle.link, thickness_of(bundle), colour_of(bundle.link));
    if (graph_detail(d_.zoom()) != GraphDetail::Blocks) draw_all_on_top();
  }
  void draw_on_blocks() {
    find();
    draw_all_on_top();
  }

 private:
  // Finds the visible links, those on top apart.
  void find() {
    const Rect visible = d_.visible_rect(8);
    visible_ = d_.on_screen(visible);
    d_.scene.link_index.find(visible, found_);
    std::erase_if(found_, [&](std::uint32_t link) {
      const std::uint8_t mark = d_.highlights.links[link];
      if ((mark & HighlightBit::kHidden) != 0) return true;
      if ((mark & HighlightBit::kOnTop) != 0) on_top_.push_back(link);
      return (mark & HighlightBit::kOnTop) != 0;
    });
  }
  void draw_all_on_top() {
    for (const std::uint8_t bit :
         {HighlightBit::kCritical, HighlightBit::kHovered, HighlightBit::kSelected}) {
      for (const std::uint32_t link : on_top_) {
        if ((d_.highlights.links[link] & bit) != 0) draw_on_top(link, bit);
      }
    }
  }
  // One line represents all links between two cells: below a zoom, and where there would be too
  // many otherwise.
  void bundle() {
    const float cell = graph_detail(d_.zoom()) == GraphDetail::Blocks ? kBlockCells : kBoxCell;
    for (const std::uint32_t link : found_) bundles_.push_back({link, 1});
    const bool is_far = GraphLod::kCell * d_.zoom() < cell;
    const std::size_t max_lines = near_ ? kMaxCurves : kMaxLines;
    if (!is_far && bundles_.size() <= max_lines) return;
    std::uint32_t level = is_far ? GraphLod::level_for(cell / d_.zoom()) : 0;
    do {
      keep_bundles(d_.scene.lod.bundles(level));
    } while (bundles_.size() > max_lines && ++level < GraphLod::kLevels);
  }
  // Replaces the visible links or bundles by those of a level. Both are ordered by link.
  void keep_bundles(std::span<const GraphBundle> of_level) {
    auto at = of_level.begin();
    std::erase_if(bundles_, [&](GraphBundle& bundle) {
      while (at != of_level.end() && at->link < bundle.link) ++at;
      if (at == of_level.end() || at->link != bundle.link) return true;
      bundle = *at;
      return false;
    });
  }
  [[nodiscard]] float thickness_of(const GraphBundle& bundle) const {
    const float width = 1 + 0.5f * std::log2(static_cast<float>(bundle.count));
    return bundle.count == 1 ? 1 : std::min(kMaxBundle, width) * d_.theme().scale;
  }
  [[nodiscard]] ImU32 colour_of(std::uint32_t link) const {
    const std::uint8_t mark = d_.highlights.links[link];
    const float alpha = (mark & HighlightBit::kFaded) != 0       ? alpha_ * 0.22f
                        : (mark & HighlightBit::kUnrelated) != 0 ? alpha_ * 0.4f
                                                                 : alpha_;
    const std::uint32_t causes = d_.scene.links[link].causes & d_.causes;
    return with_alpha(
        causes == 0 ? d_.theme().ink_faint : cause_colour(d_.theme(), main_cause(causes)), alpha);
  }
  void draw_on_top(std::uint32_t link, std::uint8_t bit) {
    const float scale = d_.theme().scale;
    if (bit == HighlightBit::kCritical)
      return draw(link, critical_width(d_.zoom()) * scale, d_.theme().critical);
    draw(link, std::round((near_ ? 2 : 1) * scale),
         bit == HighlightBit::kSelected ? d_.theme().accent : d_.theme().ink);
  }
  [[nodiscard]] bool is_added(std::uint32_t link) const {
    return (d_.scene.links[link].causes & d_.causes & ~kAddedCauses) == 0;
  }

  void draw(std::uint32_t link, float thickness, ImU32 colour) {
    trace_graph_link(d_, link, visible_, path_);
    if (path_.size() < 2) return;
    const float size = std::clamp(7 * d_.zoom(), 4.0f, 8.0f) * d_.theme().scale + thickness - 1;
    if (near_) {
      const ImVec2 tip = path_.back();
      ImVec2& end = path_.back();
      if (down_) {
        end.y -= size;
        d_.list.AddTriangleFilled(tip, {tip.x - size / 2, tip.y - size},
                                  {tip.x + size / 2, tip.y - size}, colour);
      } else {
        end.x -= size;
        d_.list.AddTriangleFilled(tip, {tip.x - size, tip.y + size / 2},
                                  {tip.x - size, tip.y - size / 2}, colour);
      }
    }
    if (near_ && is_added(link)) return draw_dashed(thickness, colour);
    d_.list.AddPolyline(path_.data(), static_cast<int>(path_.size()), colour, ImDrawFlags_None,
                        thickness);
  }

  void draw_dashed(float thickness, ImU32 colour) {
    const float dash = 6 * d_.theme().scale, space = 4 * d_.theme().scale;
    float remaining = dash;  // remaining length of the current dash or space
    bool on = true;
    for (std::size_t i = 1; i < path_.size(); ++i) {
      ImVec2 a = path_[i - 1];
      const ImVec2 b = path_[i];
      float length = std::hypot(b.x - a.x, b.y - a.y);
      while (length > 0) {
        const float step = std::min(remaining, length);
        const ImVec2 to{a.x + (b.x - a.x) * step / length, a.y + (b.y - a.y) * step / length};
        const Rect box{std::min(a.x, to.x), std::min(a.y, to.y), std::max(a.x, to.x),
                       std::max(a.y, to.y)};
        if (on && meets(box, visible_)) d_.list.AddLine(a, to, colour, thickness);
        a = to;
        length -= step;
        remaining -= step;
        if (remaining > 0) continue;
        on = !on;
        remaining = on ? dash : space;
      }
    }
  }

  const GraphDrawContext& d_;
  bool near_, down_;
  float alpha_ = 1;
  Rect visible_;  // screen coordinates
  std::vector<std::uint32_t> found_, on_top_;  // ascending
  std::vector<GraphBundle> bundles_;
  std::vector<ImVec2> path_;
};

// `smoothness`: relative number of lines that approximate the curve.
void add_curve(std::vector<ImVec2>& path, ImVec2 a, ImVec2 b, Direction direction,
               float smoothness) {
  const bool down = direction == Direction::Down;
  const float aside = down ? std::abs(b.x - a.x) : std::abs(b.y - a.y);
  if (aside > 1.5f) {
    const ImVec2 c = down ? ImVec2{a.x, (a.y + b.y) / 2} : ImVec2{(a.x + b.x) / 2, a.y};
    const ImVec2 d = down ? ImVec2{b.x, (a.y + b.y) / 2} : ImVec2{(a.x + b.x) / 2, b.y};
    const float length = aside + std::abs(down ? b.y - a.y : b.x - a.x);
    const int steps = std::clamp(static_cast<int>(std::sqrt(length) * smoothness), 4, 16);
    for (int i = 1; i < steps; ++i) {
      const float t = static_cast<float>(i) / static_cast<float>(steps), u = 1 - t;
      const float p = u * u * u, q = 3 * u * u * t, r = 3 * u * t * t, s = t * t * t;
      path.push_back(
          {p * a.x + q * c.x + r * d.x + s * b.x, p * a.y + q * c.y + r * d.y + s * b.y});
    }
  }
  path.push_back(b);
}

}  // namespace

float critical_width(float zoom) noexcept { return std::clamp(5 * zoom, 1.0f, 4.0f); }

trace::EdgeCause main_cause(std::uint32_t causes) {
  constexpr std::array kOrder = {trace::EdgeCause::Barrier,  trace::EdgeCause::User,
                                 trace::EdgeCause::Hazard,   trace::EdgeCause::Linear,
                                 trace::EdgeCause::Captured, trace::EdgeCause::Lane,
                                 trace::EdgeCause::EntryExit};
  for (const trace::EdgeCause cause : kOrder) {
    if ((causes & cause_bit(cause)) != 0) return cause;
  }
  return trace::EdgeCause::Hazard;
}

void trace_graph_link(const GraphDrawContext& drawing, std::uint32_t link, const Rect& visible,
                      std::vector<ImVec2>& path) {
  path.clear();
  const bool near = graph_detail(drawing.zoom()) <= GraphDetail::Name;
  const float smoothness = graph_detail(drawing.zoom()) <= GraphDetail::Full ? 0.7f : 0.4f;
  const auto points = drawing.scene.points_of(link);
  ImVec2 a = drawing.at(points[0]);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ImVec2 b = drawing.at(points[i]);
    const bool is_visible =
        meets(Rect{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)},
              visible);
    if (is_visible && path.empty()) path.push_back(a);
    if (is_visible && near) {
      add_curve(path, a, b, drawing.scene.key.direction, smoothness);
    } else if (!near && i + 1 < points.size() && std::abs(b.x - a.x) < kSamePoint &&
               std::abs(b.y - a.y) < kSamePoint) {
      continue;
    } else if (!path.empty()) {
      path.push_back(b);
    }
    a = b;
  }
}

void draw_graph_links(const GraphDrawContext& drawing) { LinkPainter(drawing).draw(); }

void draw_graph_links_on_blocks(const GraphDrawContext& drawing) {
  if (graph_detail(drawing.zoom()) == GraphDetail::Blocks) LinkPainter(drawing).draw_on_blocks();
}

}  // namespace reprise::viewer
