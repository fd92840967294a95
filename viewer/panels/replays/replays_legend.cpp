#include "panels/replays/replays_legend.hpp"

#include "panels/replays/replays_colour.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

// Places items from left to right until the line is full.
class Line {
 public:
  Line(const Theme& theme, ImVec2 at, float end)
      : theme_(theme), list_(*ImGui::GetWindowDrawList()), at_(at), end_(end) {}

  [[nodiscard]] float width_of(const std::string& text) const {
    return theme_.small->CalcTextSizeA(theme_.small->FontSize, 1e9f, 0, text.c_str()).x;
  }
  void text(const std::string& text, ImU32 colour, float after) {
    const float width = width_of(text);
    if (full_ || at_.x + width > end_) {
      full_ = true;
      return;
    }
    list_.AddText(theme_.small, theme_.small->FontSize, at_, colour, text.c_str());
    at_.x += width + after;
  }
  // `draw` receives the list, and the centre and half width of a square.
  template <class Draw>
  void mark(const std::string& name, Draw draw) {
    const float size = theme_.small->FontSize;
    if (full_ || at_.x + size + width_of(name) > end_) {
      full_ = true;
      return;
    }
    draw(list_, ImVec2{at_.x + size * 0.4f, at_.y + size * 0.55f}, size * 0.28f);
    at_.x += size;
    text(name, theme_.ink_soft, 1.5f * theme_.space);
  }
  void ratios() {
    if (full_ || at_.x + 220 * theme_.scale > end_) {
      full_ = true;
      return;
    }
    at_.x += draw_ratio_legend(theme_, list_, at_) + 1.5f * theme_.space;
  }

 private:
  const Theme& theme_;
  ImDrawList& list_;
  ImVec2 at_;
  float end_;
  bool full_ = false;
};

}  // namespace

void draw_replays_legend(const Theme& theme, ImVec2 at, float width, const ReplaysLegend& legend) {
  float end = at.x + width;
  if (!legend.selected.empty()) {
    const float text_width =
        theme.small->CalcTextSizeA(theme.small->FontSize, 1e9f, 0, legend.selected.c_str()).x;
    if (text_width < width) {
      ImGui::GetWindowDrawList()->AddText(theme.small, theme.small->FontSize,
                                          {end - text_width, at.y}, theme.accent,
                                          legend.selected.c_str());
      end -= text_width + theme.space;
    }
  }
  Line line(theme, at, end);
  line.text(count_text(legend.replays) + (legend.replays == 1 ? " replay" : " replays"), theme.ink,
            theme.space);
  const bool is_device = legend.value != ReplayValue::LaunchCall;
  line.text(is_device ? "device time" : "launch call duration (no device times)",
            is_device ? theme.ink_soft : theme.warning, 1.5f * theme.space);
  line.ratios();
  const float thick = 1.5f * theme.scale;
  const auto sampled = [&](const std::string& name, float high) {
    line.mark(name, [&](ImDrawList& list, ImVec2 m, float r) {
      list.AddRectFilled({m.x - r, m.y + thick - high}, {m.x + r, m.y + thick}, theme.accent);
    });
  };
  const auto has = [&](trace::SampleSource source) {
    return legend.sources != nullptr && legend.sources->count(source) != 0;
  };
  if (has(trace::SampleSource::Cupti)) sampled("sampled by CUPTI", 2 * thick);
  if (has(trace::SampleSource::Timestamp)) sampled("sampled by timestamps", thick);
  if (!has(trace::SampleSource::Cupti) && !has(trace::SampleSource::Timestamp))
    sampled("sampled", 2 * thick);
  line.mark("outlier", [&](ImDrawList& list, ImVec2 m, float r) {
    list.AddTriangleFilled({m.x - r, m.y - r}, {m.x + r, m.y - r}, {m.x, m.y + r}, theme.warning);
  });
  line.mark("untimed", [&](ImDrawList& list, ImVec2 m, float r) {
    list.AddLine({m.x - r, m.y - r}, {m.x + r, m.y + r}, theme.error, thick);
    list.AddLine({m.x + r, m.y - r}, {m.x - r, m.y + r}, theme.error, thick);
  });
}

}  // namespace reprise::viewer
