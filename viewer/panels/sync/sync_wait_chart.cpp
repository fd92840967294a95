#include "panels/sync/sync_wait_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxBars = 48;  // per row
constexpr int kMaxLevels = 4;

using Bar = WaitTimes::Bar;

std::vector<Bar> bars_of(const model::ReplayTimes& times, std::span<const std::uint32_t> nodes,
                         std::size_t& omitted) {
  std::vector<Bar> bars;
  for (const std::uint32_t n : nodes) {
    const model::NodeSpan& span = times.nodes[n];
    if (!span.measured) {
      ++omitted;
      continue;
    }
    bars.push_back({n, static_cast<double>(span.started - times.started),
                    static_cast<double>(span.ended - times.started)});
  }
  return bars;
}

// Assigns each bar to the first free level and drops bars beyond kMaxLevels. Returns the number of
// levels.
int assign_levels(std::vector<Bar>& bars, std::size_t& omitted) {
  std::stable_sort(bars.begin(), bars.end(),
                   [](const Bar& a, const Bar& b) { return a.started < b.started; });
  std::vector<double> ends;
  std::vector<Bar> placed;
  for (Bar bar : bars) {
    std::size_t level = 0;
    while (level < ends.size() && ends[level] > bar.started) ++level;
    if (level >= kMaxLevels) {
      ++omitted;
      continue;
    }
    if (level == ends.size()) ends.push_back(0);
    ends[level] = bar.ended;
    bar.level = static_cast<int>(level);
    placed.push_back(bar);
  }
  bars = std::move(placed);
  return std::max<int>(1, static_cast<int>(ends.size()));
}

// Keeps the first `count` bars in the order of `before`.
template <class Before>
void keep_top(std::vector<Bar>& bars, std::size_t count, std::size_t& omitted, Before before) {
  std::stable_sort(bars.begin(), bars.end(), before);
  if (bars.size() <= count) return;
  omitted += bars.size() - count;
  bars.resize(count);
}

}  // namespace

WaitTimes wait_times(const model::Graph& graph, const model::ReplayTimes& times,
                     std::span<const std::uint32_t> edges) {
  WaitTimes waits;
  const EdgeEnds ends = ends_of(graph, edges);
  waits.before = bars_of(times, ends.before, waits.omitted);
  waits.after = bars_of(times, ends.after, waits.omitted);
  keep_top(waits.before, kMaxBars, waits.omitted,
           [](const Bar& a, const Bar& b) { return a.ended > b.ended; });
  keep_top(waits.after, kMaxBars, waits.omitted,
           [](const Bar& a, const Bar& b) { return a.started < b.started; });
  if (!waits.before.empty()) {
    waits.last = waits.before.front().node;
    waits.released = waits.before.front().ended;
  }
  if (!waits.after.empty()) {
    waits.first = waits.after.front().node;
    waits.started = waits.after.front().started;
    // Other predecessors of the first successor.
    std::vector<std::uint32_t> others;
    for (const model::Neighbour& p : graph.predecessors(*waits.first)) {
      if (!std::binary_search(ends.before.begin(), ends.before.end(), p.node) &&
          graph.record().nodes[p.node].kind != trace::NodeKind::Join)
        others.push_back(p.node);
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::size_t omitted_others = 0;
    std::vector<Bar> bars = bars_of(times, others, omitted_others);
    keep_top(bars, 8, omitted_others, [](const Bar& a, const Bar& b) { return a.ended > b.ended; });
    for (Bar& bar : bars) {
      bar.is_other = true;
      waits.other_ended_last = waits.other_ended_last || (waits.last && bar.ended > waits.released);
      waits.before.push_back(bar);
    }
  }
  waits.levels_before = assign_levels(waits.before, waits.omitted);
  waits.levels_after = assign_levels(waits.after, waits.omitted);
  return waits;
}

void draw_wait_chart(PanelContext& context, const WaitTimes& waits, ImVec2 size) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *context.graph();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = font->FontSize, left = 52 * theme.scale, top = line + theme.half_space,
              axis = line + theme.half_space;
  const ImVec2 min{at.x + left, at.y + top},
      max{at.x + std::max(size.x, left + 40), at.y + std::max(size.y - axis, top + 20)};

  double first = 0, last = 1;
  bool any = false;
  for (const auto* row : {&waits.before, &waits.after}) {
    for (const Bar& bar : *row) {
      first = any ? std::min(first, bar.started) : bar.started;
      last = any ? std::max(last, bar.ended) : bar.ended;
      any = true;
    }
  }
  last = std::max(last, first + 1);
  const double margin = (last - first) * 0.02;
  first -= margin;
  last += margin;
  const auto x_of = [&](double t) {
    return min.x + static_cast<float>((t - first) / (last - first)) * (max.x - min.x);
  };

  list->AddRectFilled(min, max, theme.background, theme.radius);
  for (const AxisTick& tick :
       time_ticks(first, last, std::max(1, static_cast<int>((max.x - min.x) / (line * 7))))) {
    const float x = std::floor(x_of(tick.at)) + 0.5f;
    list->AddLine({x, min.y}, {x, max.y}, theme.line);
    const float width = font->CalcTextSizeA(line, FLT_MAX, 0, tick.text.c_str()).x;
    list->AddText(font, line, {std::min(x - width / 2, max.x - width), max.y + 2}, theme.ink_soft,
                  tick.text.c_str());
  }
  const int levels = waits.levels_before + waits.levels_after;
  const float gap = theme.half_space,
              height = (max.y - min.y - 3 * gap) / static_cast<float>(levels);
  const float middle = min.y + gap + height * static_cast<float>(waits.levels_before) + gap / 2;
  list->AddLine({min.x, std::floor(middle) + 0.5f}, {max.x, std::floor(middle) + 0.5f}, theme.line);
  const auto row_name = [&](const char* name, float y0, float y1) {
    list->AddText(font, line, {at.x, std::floor((y0 + y1 - line) / 2)}, theme.ink_soft, name);
  };
  row_name("before", min.y, middle);
  row_name("after", middle, max.y);

  if (waits.last && waits.first) {
    const float x0 = x_of(waits.released), x1 = x_of(waits.started);
    const bool waited = waits.started >= waits.released;
    const std::string text = waited ? "wait " + duration_text(waits.started - waits.released)
                                    : "overlap " + duration_text(waits.released - waits.started);
    list->AddRectFilled({std::min(x0, x1), min.y}, {std::max(x0, x1), max.y},
                        with_alpha(waited ? theme.gap_predecessor : theme.error, 0.35f));
    list->AddLine({x0, min.y}, {x0, max.y}, theme.accent, theme.scale);
    list->AddLine({x1, min.y}, {x1, max.y}, theme.accent, theme.scale);
    const float width = font->CalcTextSizeA(line, FLT_MAX, 0, text.c_str()).x;
    list->AddText(font, line,
                  {std::clamp((x0 + x1 - width) / 2, min.x, std::max(min.x, max.x - width)), at.y},
                  theme.ink, text.c_str());
  }
  std::optional<Bar> hovered_bar;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::array<float, kMaxLevels> texts_end{};  // per level: right end of the last bar or name
  texts_end.fill(min.x);
  // `bars`: the bars of a row, sorted by start. The name of a short bar is drawn beside it if the
  // next bar leaves space.
  const auto draw_bar = [&](const std::vector<Bar>& bars, std::size_t index, float row_top) {
    const Bar& bar = bars[index];
    float& text_end = texts_end[static_cast<std::size_t>(bar.level)];
    float text_limit = max.x;
    for (std::size_t i = index + 1; i < bars.size(); ++i) {
      if (bars[i].level == bar.level) text_limit = std::min(text_limit, x_of(bars[i].started));
    }
    const float x0 = x_of(bar.started), x1 = std::max(x_of(bar.ended), x0 + 2),
                y0 = row_top + height * static_cast<float>(bar.level),
                y1 = y0 + std::max(height - 2, 2.0f);
    const ImU32 fill = node_colour(context, bar.node);
    list->AddRectFilled({x0, y0}, {x1, y1}, with_alpha(fill, bar.is_other ? 0.35f : 1.0f),
                        2 * theme.scale);
    const bool is_highlighted =
        context.view.hovered == model::Selection(model::SelectedNode{graph.key(), bar.node});
    list->AddRect({x0, y0}, {x1, y1}, is_highlighted ? theme.accent : theme.node_border,
                  2 * theme.scale);
    const std::string name = graph.node_name(bar.node);
    const float width = font->CalcTextSizeA(line, FLT_MAX, 0, name.c_str()).x;
    if (y1 - y0 < line) return x0 <= mouse.x && mouse.x < x1 && y0 <= mouse.y && mouse.y < y1;
    const float y = (y0 + y1 - line) / 2;
    if (width + 8 <= x1 - x0) {
      list->AddText(font, line, {x0 + 4, y}, bar.is_other ? theme.ink_soft : ink_on(fill),
                    name.c_str());
    } else if (x1 + 8 + width <= text_limit) {
      list->AddText(font, line, {x1 + 4, y}, theme.ink_soft, name.c_str());
      text_end = x1 + 4 + width;
    } else if (x0 - 8 - width >= text_end) {
      list->AddText(font, line, {x0 - 4 - width, y}, theme.ink_soft, name.c_str());
    }
    text_end = std::max(text_end, x1);
    return x0 <= mouse.x && mouse.x < x1 && y0 <= mouse.y && mouse.y < y1;
  };
  list->PushClipRect(min, max, true);
  for (std::size_t i = 0; i < waits.before.size(); ++i) {
    if (draw_bar(waits.before, i, min.y + gap)) hovered_bar = waits.before[i];
  }
  texts_end.fill(min.x);
  for (std::size_t i = 0; i < waits.after.size(); ++i) {
    if (draw_bar(waits.after, i, middle + gap / 2)) hovered_bar = waits.after[i];
  }
  list->PopClipRect();

  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("waits", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  if (!ImGui::IsItemHovered() || !hovered_bar) return;
  context.view.hovered = model::SelectedNode{graph.key(), hovered_bar->node};
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(
      ("node " + count_text(hovered_bar->node) + "  " + graph.node_name(hovered_bar->node))
          .c_str());
  const float value = ImGui::GetFontSize() * 5;
  draw_field(theme, "start", duration_text(hovered_bar->started) + " after replay start", value);
  draw_field(theme, "duration", duration_text(hovered_bar->ended - hovered_bar->started), value);
  if (hovered_bar->is_other) draw_field(theme, "", "other predecessor", value);
  ImGui::EndTooltip();
  if (ImGui::IsItemClicked())
    context.view.select(model::SelectedNode{graph.key(), hovered_bar->node});
}

}  // namespace reprise::viewer
