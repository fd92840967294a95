#include "panels/graph/graph_svg.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/graph/graph_toolbar.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kSvgFadedOpacity = 0.35f;
constexpr float kSvgFontSize = 0.8f, kSvgBaseline = 0.78f;  // relative to the height of a line
constexpr std::size_t kMaxNamedEdges = 8;                   // edges named in the tooltip of a link

// The pattern with a number in place of each '%'.
std::string with_numbers(const char* pattern, std::initializer_list<float> numbers) {
  std::string text;
  auto number = numbers.begin();
  for (const char* at = pattern; *at != '\0'; ++at) {
    if (*at != '%') {
      text += *at;
      continue;
    }
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f", static_cast<double>(*number++));
    text += digits;
  }
  return text;
}

// ` fill="#rrggbb" fill-opacity="0.50"`
std::string paint(const std::string& attribute, ImU32 colour) {
  const auto channel = [&](int shift) { return colour >> shift & 0xffu; };
  char rgb[16];
  std::snprintf(rgb, sizeof rgb, "#%02x%02x%02x", channel(IM_COL32_R_SHIFT),
                channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT));
  const std::string text = " " + attribute + "=\"" + rgb + "\"";
  const unsigned alpha = channel(IM_COL32_A_SHIFT);
  if (alpha == 255) return text;
  return text + " " + attribute + with_numbers("-opacity=\"%\"", {static_cast<float>(alpha) / 255});
}

class SvgWriter {
 public:
  SvgWriter(const GraphScene& scene, const PanelContext& context, std::uint32_t causes)
      : scene_(scene),
        context_(context),
        theme_(context.theme),
        causes_(causes),
        highlights_(make_graph_highlights(scene, context, causes)) {}

  std::string write() {
    const float margin = 16 * theme_.scale;
    const Rect& b = scene_.bounds;
    const float left = b.left - margin, top = b.top - margin, width = b.width() + 2 * margin,
                height = b.height() + 2 * margin;
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    out_ += with_numbers(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%\" height=\"%\" viewBox=\"% % % %\" "
        "font-family=\"Inter, Roboto, Helvetica, sans-serif\">\n",
        {width, height, left, top, width, height});
    out_ += "<title>" + xml_text(scene_.graph().name()) + ", nodes by " +
            colour_name(context_.view.colour_by) + "</title>\n";
    add_rect("background", {left, top, left + width, top + height}, 0, paint("fill", theme_.panel));
    for (const GraphArea& area : scene_.areas) add_area(area);
    for (const bool on_top : {false, true}) {
      for (std::uint32_t l = 0; l < scene_.links.size(); ++l) {
        if (((highlights_.links[l] & HighlightBit::kCritical) != 0) == on_top) add_link(l);
      }
    }
    for (std::uint32_t box = 0; box < scene_.boxes.size(); ++box) add_box(box);
    for (const GraphArea& area : scene_.areas) add_titles(area);
    return std::move(out_) + "</svg>\n";
  }

 private:
  void add_text(const char* name, const TextWidths& font, Point at, ImU32 colour,
                const std::string& text) {
    if (text.empty()) return;
    out_ += std::string("<text class=\"") + name + "\"" +
            with_numbers(" x=\"%\" y=\"%\" font-size=\"%\" textLength=\"%\"",
                         {at.x, at.y + kSvgBaseline * font.height, kSvgFontSize * font.height,
                          font.width(text)}) +
            paint("fill", colour) + ">" + xml_text(text) + "</text>\n";
  }
  void add_rect(const char* name, const Rect& r, float radius, const std::string& paint_of) {
    out_ += std::string("<rect class=\"") + name + "\"" +
            with_numbers(" x=\"%\" y=\"%\" width=\"%\" height=\"%\" rx=\"%\"",
                         {r.left, r.top, r.width(), r.height(), radius}) +
            paint_of + "/>\n";
  }

  void add_area(const GraphArea& area) {
    const ImU32 colour = area_colour(theme_, scene_, area);
    for (const Rect& part : area.parts)
      add_rect("area", part, 0, paint("fill", with_alpha(colour, 0.07f)));
    std::string path;
    for (const GraphLine& line : area.outline)
      path += with_numbers("M% %L% %", {line.from.x, line.from.y, line.to.x, line.to.y});
    out_ += "<path class=\"outline\" d=\"" + path + "\" fill=\"none\"" +
            paint("stroke", with_alpha(colour, 0.32f)) + "/>\n";
  }
  void add_titles(const GraphArea& area) {
    const TextWidths& small = scene_.key.small;
    const std::string name = label_name(scene_.graph(), area.group + 1);
    for (const GraphArea::Column& column : area.columns) {
      const float left = column.first.left + 6 * theme_.scale;
      add_text("label", small, {left, column.first.top + theme_.scale}, theme_.ink_soft,
               small.fit(name, column.bounds.right - left));
    }
  }

  // "0 load -> 2 blur: hazard: read after write on x", one line per edge.
  [[nodiscard]] std::string reasons(std::uint32_t link) const {
    const model::Graph& graph = scene_.graph();
    const auto edges = scene_.edges_of(link);
    std::string text;
    for (std::size_t i = 0; i < std::min(edges.size(), kMaxNamedEdges); ++i) {
      const trace::Edge& e = graph.record().edges[edges[i]];
      text += (text.empty() ? "" : "\n") + graph.node_name(e.from) + " -> " +
              graph.node_name(e.to) + ": " + edge_reason(graph, edges[i]);
    }
    if (edges.size() > kMaxNamedEdges)
      text += "\n+" + count_text(edges.size() - kMaxNamedEdges) + " more edges";
    return text.empty() ? "runs" : text;
  }
  void add_link(std::uint32_t l) {
    const std::uint8_t mark = highlights_.links[l];
    const auto points = scene_.points_of(l);
    if ((mark & HighlightBit::kHidden) != 0 || points.size() < 2) return;
    const bool critical = (mark & HighlightBit::kCritical) != 0,
               down = scene_.key.direction == Direction::Down;
    const std::uint32_t causes = scene_.links[l].causes & causes_;
    const ImU32 plain = causes == 0 ? theme_.ink_faint : cause_colour(theme_, main_cause(causes));
    const ImU32 colour = critical
                             ? theme_.critical
                             : with_alpha(plain, (mark & HighlightBit::kFaded) != 0 ? 0.2f : 0.9f);
    const float s = theme_.scale, size = (critical ? 10 : 7) * s;
    const Point tip = points.back();
    const Point end = down ? Point{tip.x, tip.y - size} : Point{tip.x - size, tip.y};
    std::string path = with_numbers("M% %", {points[0].x, points[0].y});
    for (std::size_t i = 1; i < points.size(); ++i)
      add_curve(path, points[i - 1], i + 1 == points.size() ? end : points[i], down);
    const char* const name = causes == 0 ? "runs" : cause_text(main_cause(causes));
    out_ += "<g class=\"edge\"><title>" + xml_text(reasons(l)) + "</title>\n";
    out_ += "<path data-cause=\"" + xml_text(name) + "\" d=\"" + path + "\" fill=\"none\"" +
            paint("stroke", colour) + with_numbers(" stroke-width=\"%\"", {(critical ? 4 : 1) * s});
    if ((causes & ~kAddedCauses) == 0)
      out_ += with_numbers(" stroke-dasharray=\"% %\"", {6 * s, 4 * s});
    out_ += "/>\n";
    const Point a = down ? Point{tip.x - size / 2, end.y} : Point{end.x, tip.y + size / 2},
                b = down ? Point{tip.x + size / 2, end.y} : Point{end.x, tip.y - size / 2};
    out_ += with_numbers("<path d=\"M% %L% %L% %Z\"", {tip.x, tip.y, a.x, a.y, b.x, b.y}) +
            paint("fill", colour) + "/></g>\n";
  }
  // The curve of trace_graph_link().
  static void add_curve(std::string& path, Point a, Point b, bool down) {
    if ((down ? std::abs(b.x - a.x) : std::abs(b.y - a.y)) <= 1.5f) {
      path += with_numbers("L% %", {b.x, b.y});
      return;
    }
    const Point c = down ? Point{a.x, (a.y + b.y) / 2} : Point{(a.x + b.x) / 2, a.y},
                d = down ? Point{b.x, (a.y + b.y) / 2} : Point{(a.x + b.x) / 2, b.y};
    path += with_numbers("C% % % % % %", {c.x, c.y, d.x, d.y, b.x, b.y});
  }

  void add_box(std::uint32_t index) {
    const GraphBox& box = scene_.boxes[index];
    const std::uint8_t mark = highlights_.boxes[index];
    const GraphBoxTime time = box_time(scene_, context_, index);
    const ImU32 colour = node_colour(context_, time.hottest);
    const float s = theme_.scale, radius = theme_.radius * 1.25f;
    const bool is_group = box.is_group();
    const std::string duration =
        time.measured ? (is_group ? kSumPrefix : "") + duration_text(time.median) : "";
    const std::string share = time.measured ? percent_text(time.share) : "";
    out_ += std::string("<g class=\"") + (is_group ? "group" : "node") + "\"" +
            ((mark & HighlightBit::kFaded) != 0 ? with_numbers(" opacity=\"%\"", {kSvgFadedOpacity})
                                                : "") +
            "><title>" +
            xml_text(box.name + "\n" + box.detail +
                     (time.measured ? "\n" + duration + ", " + share : "")) +
            "</title>\n";
    for (const float by : {6.0f, 3.0f}) {
      const Rect& r = box.rect;
      if (is_group)  // drawn as a stack of cards
        add_rect("card", {r.left + by * s, r.top + by * s, r.right + by * s, r.bottom + by * s},
                 radius, paint("fill", theme_.raised) + paint("stroke", theme_.node_border));
    }
    const bool critical = (mark & HighlightBit::kCritical) != 0;
    add_rect("box", box.rect, radius,
             paint("fill", colour) +
                 paint("stroke", critical ? theme_.critical : theme_.node_border) +
                 with_numbers(" stroke-width=\"%\"", {(critical ? 3 : 1) * s}));
    const TextWidths &text = scene_.key.text, &small = scene_.key.small;
    const ImU32 ink = ink_on(colour);
    const float padding = 8 * s, left = box.rect.left + padding, right = box.rect.right - padding,
                space = std::max(0.0f, (box.rect.height() - text.height - small.height) / 3);
    add_text("name", text, {left, box.rect.top + space}, ink, text.fit(box.name, right - left));
    const float y = box.rect.bottom - space - small.height;
    if (time.measured) {
      add_text("time", small, {left, y}, ink, duration);
      add_text("share", small, {right - small.width(share), y}, with_alpha(ink, 0.82f), share);
    } else {
      add_text("detail", small, {left, y}, with_alpha(ink, 0.82f),
               small.fit(box.detail, right - left));
    }
    out_ += "</g>\n";
  }

  const GraphScene& scene_;
  const PanelContext& context_;
  const Theme& theme_;
  std::uint32_t causes_;
  GraphHighlights highlights_;
  std::string out_;
};

}  // namespace

std::string graph_svg(const GraphScene& scene, const PanelContext& context, std::uint32_t causes) {
  return SvgWriter(scene, context, causes).write();
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    unsigned int c = 0;
    at += ImTextCharFromUtf8(&c, at, end);
    const bool is_control = c < 0x20 && c != '\n' && c != '\t';
    if (is_control || c == 0xfffe || c == 0xffff) c = '?';
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default:
        escaped += c < 0x80 ? std::string(1, static_cast<char>(c)) : "&#" + std::to_string(c) + ";";
    }
  }
  return escaped;
}

}  // namespace reprise::viewer
