#include "panels/memory/memory_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

constexpr float kAxis = 20, kLeft = 66, kRight = 142;  // gutters, screen points

// Alignment of text relative to its x coordinate.
enum class Anchor { Left, Middle, Right };
void draw_text(const Theme& theme, ImDrawList* list, ImVec2 at, ImU32 colour,
               const std::string& text, Anchor anchor) {
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str());
  const float x = anchor == Anchor::Left     ? at.x
                  : anchor == Anchor::Middle ? at.x - size.x / 2
                                             : at.x - size.x;
  list->AddText(font, font->FontSize, {std::floor(x), std::floor(at.y)}, colour, text.c_str());
}

float small_height(const Theme& theme) {
  return (theme.small ? theme.small : ImGui::GetFont())->FontSize;
}

// Snaps a coordinate to a pixel centre, so that thin lines are sharp.
float crisp(float at) { return std::floor(at) + 0.5f; }

// The pixels of boxes that are one pixel high or wide. In a map of many buffers most of them are
// where others are already.
class ThinBoxes {
 public:
  ThinBoxes(ImVec2 min, ImVec2 max)
      : min_(min), rows_(max.y - min.y, max.x - min.x), columns_(max.x - min.x, max.y - min.y) {}

  // Adds a box that meets the map. Whether it has a pixel that no box had before; true if it is not
  // thin.
  bool add(const MemoryMap::Box& box) {
    const ImVec2 from{box.min.x - min_.x, box.min.y - min_.y},
        to{box.max.x - min_.x, box.max.y - min_.y};
    if (to.y - from.y <= kThin) return rows_.add(from.y, from.x, to.x);
    if (to.x - from.x <= kThin) return columns_.add(from.x, from.y, to.y);
    return true;
  }

 private:
  static constexpr float kThin = 1.01f;

  class Lines {  // of pixels
   public:
    Lines(float count, float length)
        : count_(pixels(count)),
          length_(pixels(length)),
          words_((length_ + 63) / 64),
          set_(count_ * words_) {}
    bool add(float line, float from, float to) {
      const std::size_t first = std::min(pixels(from), length_) - 1,
                        last = std::min(pixels(to), length_) - 1;
      std::uint64_t* const row = set_.data() + (std::min(pixels(line), count_) - 1) * words_;
      std::uint64_t added = 0;
      for (std::size_t w = first / 64; w <= last / 64; ++w) {
        std::uint64_t bits = ~std::uint64_t{0};
        if (w == first / 64) bits &= bits << (first % 64);
        if (w == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
        added |= bits & ~row[w];
        row[w] |= bits;
      }
      return added != 0;
    }

   private:
    // The number of pixels until a coordinate, at least 1.
    static std::size_t pixels(float at) { return static_cast<std::size_t>(std::max(at, 0.0f)) + 1; }
    std::size_t count_, length_, words_;
    std::vector<std::uint64_t> set_;
  };
  ImVec2 min_;
  Lines rows_, columns_;
};

struct TimeSpan {
  double started, ended;
};
TimeSpan time_of_node(const MemoryViewModel& view_model, const ReplayViewModel* replay,
                      std::uint32_t node) {
  if (!view_model.is_measured) return {static_cast<double>(node), node + 1.0};
  if (!replay || node >= replay->times.nodes.size()) return {0, 0};
  const model::NodeSpan& span = replay->times.nodes[node];
  return {static_cast<double>(span.started - replay->times.started),
          static_cast<double>(span.ended - replay->times.started)};
}

}  // namespace

std::string position_text(const MemoryViewModel& view_model, Time at) {
  if (view_model.is_measured) return duration_text(static_cast<double>(at));
  const auto node =
      static_cast<std::uint32_t>(std::clamp<Time>(at, 0, std::max<Time>(view_model.length - 1, 0)));
  return "node " + count_text(node) + " " + shortened(view_model.graph->node_name(node), 40);
}

void draw_buffer_tooltip(const Theme& theme, const MemoryViewModel& view_model,
                         std::uint32_t buffer) {
  const model::Graph& graph = *view_model.graph;
  const trace::Buffer& record = graph.record().buffers[buffer];
  const model::BufferSpan& span = view_model.use.spans[view_model.span[buffer]];
  const auto uses = graph.uses(buffer);
  ImGui::BeginTooltip();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  ImGui::TextUnformatted(shortened(graph.buffer_name(buffer), 80).c_str());
  ImGui::PopStyleColor();
  const float value = ImGui::GetFontSize() * 6.5f;
  draw_field(theme, "size", bytes_text(record.bytes), value);
  draw_field(theme, "slab offset",
             bytes_text(record.offset) + " to " + bytes_text(record.offset + record.bytes), value);
  draw_field(theme, "first use",
             "node " + count_text(uses.front().node) + " " +
                 shortened(graph.node_name(uses.front().node), 50),
             value);
  draw_field(theme, "last use",
             "node " + count_text(uses.back().node) + " " +
                 shortened(graph.node_name(uses.back().node), 50),
             value);
  if (view_model.is_measured) {
    draw_field(theme, "live",
               duration_text(static_cast<double>(span.ended - span.started)) + " from " +
                   duration_text(static_cast<double>(span.started)),
               value);
  }
  const std::vector<std::uint32_t> others = aliasing_buffers(view_model, buffer);
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 5); ++i) {
    names += (i == 0 ? "" : ", ") + shortened(graph.buffer_name(others[i]), 28);
  }
  if (others.size() > 5) names += ", +" + count_text(others.size() - 5) + " more";
  draw_field(theme, "aliases", others.empty() ? "none" : names, value);
  ImGui::EndTooltip();
}

MemoryMap::Box MemoryMap::box_of(const MemoryViewModel& view_model, std::uint32_t buffer) const {
  const model::BufferSpan& s = view_model.use.spans[view_model.span[buffer]];
  Box box{
      canvas_.to_screen(static_cast<double>(s.started), -static_cast<double>(s.offset + s.bytes)),
      canvas_.to_screen(static_cast<double>(s.ended), -static_cast<double>(s.offset))};
  // At least one pixel.
  box.max.x = std::max(box.max.x, box.min.x + 1);
  box.max.y = std::max(box.max.y, box.min.y + 1);
  return box;
}

void MemoryMap::draw(PanelContext& context, const Content& content, ImVec2 size) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float left = kLeft * theme.scale, right = kRight * theme.scale, axis = kAxis * theme.scale;
  const float curve = std::clamp(size.y * 0.27f, 44 * theme.scale, 150 * theme.scale);
  Regions regions;
  regions.curve_min = {at.x + left, at.y + theme.half_space};
  regions.curve_max = {at.x + std::max(size.x - right, left + 20), at.y + curve};
  regions.map_min = {regions.curve_min.x, regions.curve_max.y + theme.space};
  regions.map_size = {regions.curve_max.x - regions.curve_min.x,
                      std::max(at.y + size.y - axis - regions.map_min.y, 10.0f)};
  regions.right = at.x + size.x;
  if (cursor_ && (*cursor_ < 0 || *cursor_ >= std::max<Time>(content.view_model.length, 1)))
    cursor_.reset();

  draw_map(context, content, regions);
  draw_curve(context, content, regions);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void MemoryMap::draw_map(PanelContext& context, const Content& content, const Regions& regions) {
  const MemoryViewModel& view_model = content.view_model;
  std::uint64_t top = view_model.use.slab_bytes;
  for (const model::BufferSpan& s : view_model.use.spans) top = std::max(top, s.offset + s.bytes);
  // Offsets grow upwards.
  const CanvasBounds bounds{0, -static_cast<double>(std::max<std::uint64_t>(top, 1)),
                            static_cast<double>(std::max<Time>(view_model.length, 1)), 0};
  ImGui::SetCursorScreenPos(regions.map_min);
  if (context.view.reveal_selection) reveal(context, content);
  canvas_.begin("slab", bounds, context.theme, regions.map_size);
  draw_grid(context, content, regions);
  const MemoryEmphasis emphasis(context.view, view_model, content.matches);
  draw_buffers(context, content, emphasis);
  draw_cursors(context, content, emphasis);
  handle_mouse(context, content);
  canvas_.end();
  if (!menu_.begin(context)) return;
  if (ImGui::MenuItem("Fit to view", "Home")) canvas_.fit();
  ImGui::EndPopup();
}

void MemoryMap::reveal(const PanelContext& context, const Content& content) {
  const MemoryViewModel& view_model = content.view_model;
  const MemoryEmphasis emphasis(context.view, view_model, content.matches);
  if (canvas_.max().x <= canvas_.min().x || emphasis.selected().empty()) return;
  const CanvasBounds visible = canvas_.visible_area();
  const model::BufferSpan* first = nullptr;
  for (const std::uint32_t b : emphasis.selected()) {
    if (view_model.span[b] == kNone) continue;
    const model::BufferSpan& s = view_model.use.spans[view_model.span[b]];
    const bool is_visible =
        static_cast<double>(s.started)<visible.right&& static_cast<double>(s.ended)> visible.left &&
        -static_cast<double>(s.offset) > visible.top &&
        -static_cast<double>(s.offset + s.bytes) < visible.bottom;
    if (is_visible) return;
    if (!first) first = &s;
  }
  if (first) {
    canvas_.centre(static_cast<double>(first->started + first->ended) / 2,
                   -static_cast<double>(first->offset) - static_cast<double>(first->bytes) / 2);
  }
}

void MemoryMap::draw_grid(const PanelContext& context, const Content& content,
                          const Regions& regions) const {
  const Theme& theme = context.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const CanvasBounds visible = canvas_.visible_area();
  const ImVec2 min = regions.map_min, max{min.x + regions.map_size.x, min.y + regions.map_size.y};
  const float text = small_height(theme);
  list->PushClipRect({min.x - kLeft * theme.scale, regions.curve_min.y},
                     {regions.right, max.y + kAxis * theme.scale}, false);
  list->AddRectFilled(min, max, theme.background);
  // The background outside the slab and after the end differs from the slab.
  const ImVec2 slab_min =
      canvas_.to_screen(0, -static_cast<double>(content.view_model.use.slab_bytes));
  const ImVec2 slab_max = canvas_.to_screen(static_cast<double>(content.view_model.length), 0);
  const ImVec2 inside_min{std::max(slab_min.x, min.x), std::max(slab_min.y, min.y)},
      inside_max{std::min(slab_max.x, max.x), std::min(slab_max.y, max.y)};
  if (inside_min.x < inside_max.x && inside_min.y < inside_max.y)
    list->AddRectFilled(inside_min, inside_max, theme.panel);
  for (const AxisTick& tick :
       byte_ticks(-visible.bottom, -visible.top,
                  std::max(1, static_cast<int>(regions.map_size.y / (text * 2.2f))))) {
    const float y = crisp(canvas_.to_screen(0, -tick.at).y);
    list->AddLine({min.x, y}, {max.x, y}, theme.line);
    const float text_y = std::clamp(y - text / 2, min.y - text / 2, max.y - text / 2);
    draw_text(theme, list, {min.x - theme.half_space, text_y}, theme.ink_soft, tick.text,
              Anchor::Right);
  }
  const int max_ticks = std::max(1, static_cast<int>(regions.map_size.x / (text * 7)));
  const auto ticks = content.view_model.is_measured
                         ? time_ticks(visible.left, visible.right, max_ticks)
                         : count_ticks(visible.left, visible.right, max_ticks);
  const char* title =
      content.view_model.is_measured ? "time since replay start" : "node (execution order)";
  const float title_width = ImGui::CalcTextSize(title).x;
  for (const AxisTick& tick : ticks) {
    const float x = crisp(screen_x(tick.at));
    list->AddLine({x, min.y}, {x, max.y}, theme.line);
    list->AddLine({x, regions.curve_min.y}, {x, regions.curve_max.y}, theme.line);
    if (x < max.x - title_width)
      draw_text(theme, list, {x, max.y + 3}, theme.ink_soft, tick.text,
                x < min.x + text ? Anchor::Left : Anchor::Middle);
  }
  draw_text(theme, list, {max.x, max.y + 3}, theme.ink_faint, title, Anchor::Right);
  list->AddRect(min, max, theme.line);
  list->PopClipRect();
}

void MemoryMap::draw_buffers(const PanelContext& context, const Content& content,
                             const MemoryEmphasis& emphasis) const {
  const Theme& theme = context.theme;
  const MemoryViewModel& view_model = content.view_model;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const ImVec2 min = canvas_.min(), max = canvas_.max();
  std::map<Emphasis, ThinBoxes> thin;
  for (const model::BufferSpan& s : view_model.use.spans) {
    const Box box = box_of(view_model, s.buffer);
    if (box.max.x < min.x || box.min.x > max.x || box.max.y < min.y || box.min.y > max.y) continue;
    const Emphasis state = emphasis.of(s.buffer);
    if (!thin.try_emplace(state, min, max).first->second.add(box)) continue;
    const bool passes = state != Emphasis::Filtered;
    const float alpha = !passes ? 0.15f : state == Emphasis::Dimmed ? 0.4f : 1.0f;
    const ImU32 fill = memory_colour(theme, view_model, content.colour, s.buffer);
    list->AddRectFilled(box.min, box.max, with_alpha(fill, alpha));
    const ImVec2 size{box.max.x - box.min.x, box.max.y - box.min.y};
    if (size.x > 4 && size.y > 4) list->AddRect(box.min, box.max, theme.background);
    if (passes && size.y >= font->FontSize && size.x > font->FontSize * 2) {
      // The name stays visible while a part of the rectangle is.
      const ImVec2 from{std::max(box.min.x, min.x) + 4,
                        std::max(box.min.y, min.y) + std::min(2.0f, (size.y - font->FontSize) / 2)};
      const float available = std::min(box.max.x, max.x) - from.x - 2;
      const std::string& name = view_model.graph->buffer_name(s.buffer);
      const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, name.c_str()).x;
      const ImU32 ink = alpha > 0.5f ? ink_on(fill) : theme.ink_soft;
      if (width <= available) {
        list->AddText(font, font->FontSize, from, ink, name.c_str());
        if (size.y >= font->FontSize * 2 + 6) {
          const std::string bytes = bytes_text(s.bytes);
          if (font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, bytes.c_str()).x <= available) {
            list->AddText(font, font->FontSize, {from.x, from.y + font->FontSize},
                          with_alpha(ink, 0.75f), bytes.c_str());
          }
        }
      } else if (available > font->FontSize * 2.5f) {
        const std::string shortened_name = shortened(
            name, static_cast<std::size_t>(available / (width / static_cast<float>(name.size()))));
        if (font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, shortened_name.c_str()).x <= available)
          list->AddText(font, font->FontSize, from, ink, shortened_name.c_str());
      }
    }
  }
  // Outlines are drawn on top.
  const auto outline = [&](std::uint32_t buffer, ImU32 colour, float width) {
    if (buffer >= view_model.span.size() || view_model.span[buffer] == kNone) return;
    const Box box = box_of(view_model, buffer);
    list->AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1}, colour, 0, 0,
                  width * theme.scale);
  };
  if (content.bound != nullptr) {
    for (const model::LowerBound::Item& item : content.bound->items)
      outline(item.buffer, theme.critical, 1.5f);
  }
  for (const std::uint32_t b : emphasis.aliasing()) outline(b, theme.ink_soft, 1.5f);
  for (const std::uint32_t b : emphasis.selected()) outline(b, theme.accent, 2);
  outline(emphasis.hovered_buffer(), theme.ink, 1.5f);
  if (emphasis.buffer() != kNone) draw_uses(context, view_model, emphasis.buffer());
}

// Marks the uses of the selected buffer: a mark below its rectangle and a faint vertical band.
void MemoryMap::draw_uses(const PanelContext& context, const MemoryViewModel& view_model,
                          std::uint32_t buffer) const {
  const Theme& theme = context.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Box box = box_of(view_model, buffer);
  const auto uses = view_model.graph->uses(buffer);
  const float height = std::clamp((box.max.y - box.min.y) / 4, 3.0f, 7.0f) * theme.scale;
  for (const model::BufferUse& use : uses) {
    const TimeSpan time = time_of_node(view_model, context.replay, use.node);
    const float x0 = screen_x(time.started), x1 = std::max(screen_x(time.ended), x0 + 2);
    const trace::Access access = view_model.graph->record().accesses[use.access].access;
    const bool writes = access == trace::Access::Write || access == trace::Access::ReadWrite;
    if (uses.size() <= 64)
      list->AddRectFilled({x0, canvas_.min().y}, {x1, canvas_.max().y},
                          with_alpha(theme.accent, 0.08f));
    list->AddRectFilled({x0, box.max.y - height}, {x1, box.max.y},
                        writes ? theme.accent : theme.ink);
    list->AddRect({x0, box.max.y - height}, {x1, box.max.y}, theme.background);
  }
}

void MemoryMap::draw_cursors(const PanelContext& context, const Content& content,
                             const MemoryEmphasis& emphasis) const {
  const Theme& theme = context.theme;
  const MemoryViewModel& view_model = content.view_model;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 min = canvas_.min(), max = canvas_.max();
  const auto band = [&](std::uint32_t node, ImU32 colour, float alpha) {
    if (node == kNone) return;
    const TimeSpan time = time_of_node(view_model, context.replay, node);
    const float x0 = screen_x(time.started), x1 = std::max(screen_x(time.ended), x0 + 1);
    list->AddRectFilled({x0, min.y}, {x1, max.y}, with_alpha(colour, alpha * 0.22f));
    list->AddLine({crisp(x0), min.y}, {crisp(x0), max.y}, with_alpha(colour, alpha), theme.scale);
    list->AddLine({crisp(x1), min.y}, {crisp(x1), max.y}, with_alpha(colour, alpha), theme.scale);
  };
  band(emphasis.hovered_node(), theme.ink_soft, 0.5f);
  band(emphasis.node(), theme.accent, 1);
  const auto dashes = [&](Time at, ImU32 colour) {
    const float x = crisp(
        screen_x(view_model.is_measured ? static_cast<double>(at) : static_cast<double>(at) + 0.5));
    for (float y = min.y; y < max.y; y += 6 * theme.scale)
      list->AddLine({x, y}, {x, std::min(y + 3 * theme.scale, max.y)}, colour, theme.scale);
  };
  if (!view_model.use.spans.empty()) dashes(view_model.use.peak_at, theme.warning);
  if (cursor_) dashes(*cursor_, theme.accent);
}

void MemoryMap::handle_mouse(PanelContext& context, const Content& content) {
  if (!canvas_.is_hovered()) return;
  const MemoryViewModel& view_model = content.view_model;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::uint32_t hovered = kNone;
  for (const model::BufferSpan& s : view_model.use.spans) {
    const Box box = box_of(view_model, s.buffer);
    if (box.min.x <= mouse.x && mouse.x < box.max.x && box.min.y <= mouse.y && mouse.y < box.max.y)
      hovered = s.buffer;
  }
  if (hovered != kNone) {
    context.view.hovered = model::SelectedBuffer{view_model.graph->key(), hovered};
    draw_buffer_tooltip(context.theme, view_model, hovered);
  }
  if (is_menu_click())
    menu_.open(hovered == kNone ? model::Selection{}
                                : model::SelectedBuffer{view_model.graph->key(), hovered});
  if (canvas_.is_double_clicked() && hovered != kNone) {
    const model::BufferSpan& s = view_model.use.spans[view_model.span[hovered]];
    const double top = -static_cast<double>(s.offset + s.bytes),
                 bottom = -static_cast<double>(s.offset);
    canvas_.show({static_cast<double>(s.started), top, static_cast<double>(s.ended), bottom});
  } else if (canvas_.is_clicked()) {
    context.view.selection = hovered == kNone
                                 ? model::Selection{}
                                 : model::SelectedBuffer{view_model.graph->key(), hovered};
  }
}

}  // namespace reprise::viewer
