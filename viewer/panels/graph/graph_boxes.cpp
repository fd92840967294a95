// Draws the boxes of a graph in the level of detail that the zoom allows.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kRichZoom = 1.12f, kFullZoom = 0.72f, kNameZoom = 0.34f, kBlockZoom = 0.07f;
constexpr float kBlockCell = 4;  // screen points
constexpr float kFadedFill = 0.16f, kFadedText = 0.35f, kUnrelatedFill = 0.5f;
constexpr std::size_t kMinNameLength = 8;  // of a shortened name, with its ellipsis
constexpr float kMinNameHeight = 0.65f;    // of a box, relative to the text
constexpr std::size_t kMaxNames = 600;     // of boxes in sight, to write names beside them

class BoxPainter {
 public:
  explicit BoxPainter(const GraphDrawContext& d)
      : d_(d), theme_(d.theme()), detail_(graph_detail(d.zoom())) {}

  // Returns the names beside boxes.
  std::vector<Rect> draw() {
    if (detail_ == GraphDetail::Blocks) draw_blocks();
    d_.scene.box_index.find(d_.visible_rect(6), found_);
    if (detail_ != GraphDetail::Blocks) {
      for (const std::uint32_t box : found_) draw_box(box);
    }
    if (detail_ == GraphDetail::Plain && found_.size() <= kMaxNames) draw_small_names();
    for (const std::uint8_t bit :
         {HighlightBit::kCritical, HighlightBit::kHovered, HighlightBit::kSelected}) {
      for (const std::uint32_t box : found_) {
        if ((d_.highlights.boxes[box] & bit) != 0 &&
            (bit != HighlightBit::kCritical || detail_ != GraphDetail::Blocks))
          draw_ring(box, bit);
      }
    }
    return std::move(names_);
  }

 private:
  // On the screen, enlarged to a visible minimum size.
  [[nodiscard]] Rect visible_box(const Rect& rect) const {
    Rect r = d_.on_screen(rect);
    const float min_size = 1.5f * theme_.scale;
    if (r.width() < min_size) r.right = r.left + min_size;
    if (r.height() < min_size) r.bottom = r.top + min_size;
    return r;
  }
  [[nodiscard]] bool is_faded(std::uint32_t box) const {
    return (d_.highlights.boxes[box] & HighlightBit::kFaded) != 0;
  }
  [[nodiscard]] float fill_alpha(std::uint32_t box) const {
    const std::uint8_t mark = d_.highlights.boxes[box];
    if ((mark & HighlightBit::kFaded) != 0) return kFadedFill;
    return (mark & HighlightBit::kUnrelated) != 0 ? kUnrelatedFill : 1;
  }

  void draw_blocks() {
    const std::uint32_t level = GraphLod::level_for(kBlockCell / d_.zoom());
    const Rect visible = d_.visible_rect(6);
    for (const GraphBlock& block : d_.scene.lod.blocks(level)) {
      if (!meets(block.rect, visible)) continue;
      std::uint32_t hottest = trace::kNone;
      double max_heat = 0;
      float max_alpha = 0;
      for (const std::uint32_t box : d_.scene.lod.boxes_of(level, block)) {
        const float alpha = fill_alpha(box);
        if (alpha < max_alpha) continue;
        const double heat = node_heat(d_.context, d_.times[box].hottest);
        if (heat <= max_heat && !(alpha > max_alpha)) continue;
        hottest = d_.times[box].hottest;
        max_heat = heat;
        max_alpha = alpha;
      }
      const Rect r = visible_box(block.rect);
      d_.list.AddRectFilled({r.left, r.top}, {r.right, r.bottom},
                            with_alpha(node_colour(d_.context, hottest), max_alpha));
    }
  }

  void draw_box(std::uint32_t b) {
    const GraphBox& box = d_.scene.boxes[b];
    const Rect r = visible_box(box.rect);
    const float alpha = fill_alpha(b);
    const bool faded = is_faded(b), group = box.is_group();
    if (detail_ == GraphDetail::Plain) {
      const ImU32 colour = node_colour(d_.context, group ? d_.times[b].hottest : box.node);
      d_.list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, with_alpha(colour, alpha));
      return;
    }
    const GraphBoxTime& time = d_.times[b];
    const ImU32 colour = node_colour(d_.context, time.hottest);
    const float radius = theme_.radius * (detail_ <= GraphDetail::Full ? 1.25f : 0.75f);
    const ImVec2 low{r.left, r.top}, high{r.right, r.bottom};
    if (group) {  // drawn as a stack of cards
      const float corner = detail_ <= GraphDetail::Full ? radius : 0;
      for (const float by : {6.0f, 3.0f}) {
        const float off = by * d_.zoom() * theme_.scale;
        d_.list.AddRectFilled({low.x + off, low.y + off}, {high.x + off, high.y + off},
                              faded ? with_alpha(theme_.raised, 0.4f) : theme_.raised, corner);
        d_.list.AddRect({low.x + off, low.y + off}, {high.x + off, high.y + off},
                        with_alpha(theme_.node_border, faded ? kFadedText : 1), corner);
      }
    }
    if (alpha < 1)
      d_.list.AddRectFilled(low, high, theme_.panel, radius);  // hides links behind the box
    d_.list.AddRectFilled(low, high, with_alpha(colour, alpha), radius);
    d_.list.AddRect(low, high, with_alpha(theme_.node_border, faded ? kFadedText : 1), radius);
    const ImU32 ink = faded ? with_alpha(theme_.ink, kFadedText) : ink_on(colour);
    if (detail_ <= GraphDetail::Full) {
      draw_lines(box, r, ink, time);
    } else {
      draw_name(box, r, ink, time);
    }
  }

  void draw_lines(const GraphBox& box, const Rect& r, ImU32 ink, const GraphBoxTime& time) {
    const TextWidths &text = d_.scene.key.text, &small = d_.scene.key.small;
    const ImU32 soft =
        with_alpha(ink, static_cast<float>(ink >> IM_COL32_A_SHIFT & 0xff) / 255 * 0.82f);
    const float padding = std::min(8.0f, 8 * d_.zoom()) * theme_.scale, left = r.left + padding,
                right = r.right - padding;
    const bool rich = detail_ == GraphDetail::Rich;
    const float unused_height = r.height() - text.height - small.height * (rich ? 2 : 1),
                space = std::max(0.0f, unused_height / (rich ? 4 : 3));
    float y = r.top + space;
    draw_graph_text(d_.list, theme_.text, {left, y}, ink, fit_box_name(box, text, right - left));
    y += text.height + space;
    if (rich) {
      draw_graph_text(d_.list, theme_.small, {left, y}, soft, small.fit(box.detail, right - left));
      y += small.height + space;
    }
    if (!time.measured) {
      if (!rich)
        draw_graph_text(d_.list, theme_.small, {left, y}, soft,
                        small.fit(box.detail, right - left));
      return;
    }
    const std::string share = percent_text(time.share);
    draw_graph_text(d_.list, theme_.small, {left, y}, ink, time_text(box, time));
    draw_graph_text(d_.list, theme_.small, {right - small.width(share), y}, soft, share);
  }
  static std::string time_text(const GraphBox& box, const GraphBoxTime& time) {
    return (box.is_group() ? kSumPrefix : "") + duration_text(time.median);
  }
  void draw_name(const GraphBox& box, const Rect& r, ImU32 ink, const GraphBoxTime& time) {
    const TextWidths& small = d_.scene.key.small;
    const float padding = 4 * theme_.scale, width = r.width() - 2 * padding;
    if (box.is_group() && time.measured && r.height() >= 2 * small.height) {
      const float top = (r.top + r.bottom) / 2;
      draw_centred(fit_box_name(box, small, width), r, top - small.height, ink);
      draw_centred(small.fit(time_text(box, time), width), r, top, ink);
    } else {
      draw_centred(fit_box_name(box, small, width), r, (r.top + r.bottom - small.height) / 2, ink);
    }
  }
  void draw_centred(const std::string& text, const Rect& r, float top, ImU32 ink) {
    const float padding = 4 * theme_.scale, width = d_.scene.key.small.width(text);
    draw_graph_text(d_.list, theme_.small,
                    {r.left + std::max(padding, (r.width() - width) / 2), top}, ink, text);
  }
  // Writes the names of boxes that are too small for other text: over the box if it is almost as
  // high as the text, otherwise to its right, where nothing else is.
  void draw_small_names() {
    const TextWidths& small = d_.scene.key.small;
    const float gap = 3 * theme_.scale;
    std::vector<std::uint32_t> near;
    for (const std::uint32_t b : found_) {
      const GraphBox& box = d_.scene.boxes[b];
      const Rect r = visible_box(box.rect);
      const float top = (r.top + r.bottom - small.height) / 2;
      if (r.height() >= kMinNameHeight * small.height) {
        const std::string name = fit_box_name(box, small, r.width() - 2 * gap);
        if (name.size() >= std::min(box.name.size(), kMinNameLength)) {
          const ImU32 fill = node_colour(d_.context, d_.times[b].hottest);
          draw_centred(name, r, top,
                       is_faded(b) ? with_alpha(theme_.ink, kFadedText) : ink_on(fill));
          continue;
        }
      }
      Rect text{r.right + gap, top, r.right + gap + small.width(box.name), top + small.height};
      d_.scene.box_index.find(d_.on_plane(text), near);
      for (const std::uint32_t other : near) {
        if (other != b)
          text.right = std::min(text.right, visible_box(d_.scene.boxes[other].rect).left - gap);
      }
      text.right = std::min(text.right, d_.canvas.max().x);
      const std::string name = fit_box_name(box, small, text.width());
      if (name.size() < std::min(box.name.size(), kMinNameLength) ||
          std::any_of(names_.begin(), names_.end(),
                      [&](const Rect& other) { return meets(other, text); }))
        continue;
      names_.push_back(text);
      draw_graph_text(d_.list, theme_.small, {text.left, text.top},
                      with_alpha(theme_.ink, is_faded(b) ? kFadedText : 1), name);
    }
  }

  void draw_ring(std::uint32_t b, std::uint8_t bit) {
    const Rect r = visible_box(d_.scene.boxes[b].rect);
    const float s = theme_.scale;
    const bool small = detail_ >= GraphDetail::Plain;
    float thickness = std::round(std::min(critical_width(d_.zoom()), 3.0f) * s), out = 0;
    ImU32 colour = theme_.critical;
    if (bit == HighlightBit::kHovered) {
      colour = theme_.ink;
      thickness = std::round(2 * s);
      out = 1 * s;
    } else if (bit == HighlightBit::kSelected) {
      colour = theme_.accent;
      thickness = std::round((small ? 2 : 3) * s);
      out = (small ? 2 : 3) * s;
      d_.list.AddRect({r.left - out - 2 * s, r.top - out - 2 * s},
                      {r.right + out + 2 * s, r.bottom + out + 2 * s}, with_alpha(colour, 0.35f),
                      small ? 0 : theme_.radius * 2, ImDrawFlags_None, std::round(4 * s));
    } else if (small) {
      thickness = std::round(1 * s);
      if (r.height() < 6 * s) {  // a ring would hide a box this small
        d_.list.AddRectFilled({r.left, r.bottom}, {r.right, r.bottom + thickness}, colour);
        return;
      }
    }
    d_.list.AddRect({r.left - out, r.top - out}, {r.right + out, r.bottom + out}, colour,
                    small ? 0 : theme_.radius * 1.25f + out, ImDrawFlags_None, thickness);
  }

  const GraphDrawContext& d_;
  const Theme& theme_;
  GraphDetail detail_;
  std::vector<std::uint32_t> found_;
  std::vector<Rect> names_;  // beside boxes
};

}  // namespace

GraphDetail graph_detail(float zoom) noexcept {
  if (zoom >= kRichZoom) return GraphDetail::Rich;
  if (zoom >= kFullZoom) return GraphDetail::Full;
  if (zoom >= kNameZoom) return GraphDetail::Name;
  return zoom >= kBlockZoom ? GraphDetail::Plain : GraphDetail::Blocks;
}

Rect GraphDrawContext::visible_rect(float margin) const {
  const CanvasBounds b = canvas.visible_area();
  const double extra = static_cast<double>(margin) / canvas.zoom_x();
  return {static_cast<float>(b.left - extra), static_cast<float>(b.top - extra),
          static_cast<float>(b.right + extra), static_cast<float>(b.bottom + extra)};
}

Rect GraphDrawContext::on_plane(const Rect& r) const {
  return {static_cast<float>(canvas.x_of(r.left)), static_cast<float>(canvas.y_of(r.top)),
          static_cast<float>(canvas.x_of(r.right)), static_cast<float>(canvas.y_of(r.bottom))};
}

void draw_graph_text(ImDrawList& list, ImFont* font, ImVec2 at, ImU32 colour,
                     const std::string& text) {
  if (text.empty()) return;
  if (font == nullptr) font = ImGui::GetFont();
  list.AddText(font, font->FontSize, {std::round(at.x), std::round(at.y)}, colour, text.data(),
               text.data() + text.size());
}

std::vector<Rect> draw_graph_boxes(const GraphDrawContext& drawing) {
  return BoxPainter(drawing).draw();
}

}  // namespace reprise::viewer
