#include "panels/ranks/ranks_chart.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <imgui.h>

#include "panels/ranks/ranks_tables.hpp"
#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

ImFont* chart_font(const Theme& theme) { return theme.small ? theme.small : ImGui::GetFont(); }

float small_width(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
}

void note_line(const Theme& theme, const char* text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

std::string execution_text(const model::CollectiveExecution& e) {
  return "replay " + count_text(e.replay) +
         (e.occurrence == 0 ? "" : ", execution " + count_text(e.occurrence + 1));
}

void execution_tooltip(const Theme& theme, const RanksChart& chart, std::size_t index,
                       std::size_t count) {
  const model::CollectiveExecution& e = chart.all.executions[index];
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(execution_text(e).c_str());
  const float value = ImGui::GetFontSize() * 8;
  draw_field(theme, "first to last arrival",
             wait_text(static_cast<double>(e.spread), chart.max_error), value);
  if (e.last != kNone) {
    draw_field(theme, "last",
               rank_text(chart.document, chart.collective.ranks[e.last].session) +
                   (e.is_certain ? "" : " (within the error of the clocks)"),
               value);
    draw_field(theme, "mean waiting", duration_text(static_cast<double>(e.wait)), value);
  }
  if (e.transfer >= 0)
    draw_field(theme, "transfer", duration_text(static_cast<double>(e.transfer)), value);
  if (count > 1)
    note_line(theme, ("the longest of " + count_text(count) + " executions here").c_str());
  ImGui::EndTooltip();
}

}  // namespace

void draw_bar_legend(const Theme& theme, float left, float right, float y) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = chart_font(theme);
  const float swatch = std::floor(font->FontSize * 0.7f), gap = theme.half_space;
  for (const auto& [name, colour] :
       {std::pair("transfer", kind_colour(theme, trace::NodeKind::Dispatch)),
        std::pair("waiting", theme.gap_predecessor)}) {
    right -= small_width(font, name) + swatch + gap;
    if (right < left) return;
    const float top = y + std::floor((font->FontSize - swatch) / 2);
    list->AddRectFilled({right, top}, {right + swatch, top + swatch}, colour);
    list->AddText(font, font->FontSize, {right + swatch + gap, y}, theme.ink_soft, name);
    right -= theme.space;
  }
}

std::optional<std::size_t> draw_executions(PanelContext& context, const RanksChart& chart,
                                           ImVec2 size) {
  const Theme& theme = context.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = chart_font(theme);
  const auto& executions = chart.all.executions;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float label = 96 * theme.scale, width = std::max(size.x - label, 40.0f);
  const ImVec2 min{at.x + label, at.y}, max{min.x + width, at.y + std::max(size.y, 10.0f)};
  list->AddRectFilled(min, max, theme.background, theme.radius);
  list->AddText(font, font->FontSize, {at.x, min.y}, theme.ink_soft, "first to last");

  // One bar per execution, or per two points: the longest of its executions.
  const std::size_t bars =
      std::max<std::size_t>(1, std::min(executions.size(), static_cast<std::size_t>(width / 2)));
  const auto first_of = [&](std::size_t bar) { return bar * executions.size() / bars; };
  std::vector<std::size_t> longest(bars);
  std::vector<Time> spreads(bars, -1);
  for (std::size_t bar = 0; bar < bars; ++bar) {
    for (std::size_t i = first_of(bar); i < first_of(bar + 1); ++i) {
      if (executions[i].spread <= spreads[bar]) continue;
      spreads[bar] = executions[i].spread;
      longest[bar] = i;
    }
  }
  const Time max_spread = std::max<Time>(*std::max_element(spreads.begin(), spreads.end()), 1),
             top = std::max<Time>(top_of_scale(spreads), 1);
  const float height = max.y - min.y - 2;
  const auto left_text = [&](float line, const char* what, Time time) {
    list->AddText(font, font->FontSize, {at.x, min.y + line * (font->FontSize + 2)},
                  theme.ink_faint, (what + duration_text(static_cast<double>(time))).c_str());
  };
  if (top < max_spread && height > 3 * font->FontSize) left_text(2, "scale to ", top);
  left_text(1, "max ", max_spread);
  const float bar_width = std::min(width / static_cast<float>(bars), 24 * theme.scale);
  const auto x_of = [&](std::size_t bar) { return min.x + static_cast<float>(bar) * bar_width; };
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> hovered, clicked;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const model::CollectiveExecution& e = executions[longest[bar]];
    const bool is_shown = first_of(bar) <= chart.shown && chart.shown < first_of(bar + 1);
    const float x0 = x_of(bar), x1 = x0 + bar_width,
                y = max.y -
                    std::clamp(static_cast<float>(spreads[bar]) / static_cast<float>(top) * height,
                               1.0f, height);
    if (is_shown) list->AddRectFilled({x0, min.y}, {x1, max.y}, with_alpha(theme.accent, 0.3f));
    const float gap = bar_width > 3 ? 1.0f : 0.0f;
    list->AddRectFilled({x0, y}, {x1 - gap, max.y},
                        with_alpha(theme.gap_predecessor, e.is_certain ? 1.0f : 0.45f));
    if (spreads[bar] > top) {  // the bar is higher than the chart
      const float middle = (x0 + x1 - gap) / 2, half = 4 * theme.scale;
      list->AddTriangleFilled({middle - half, min.y + half}, {middle + half, min.y + half},
                              {middle, min.y}, theme.warning);
    }
    if (x0 <= mouse.x && mouse.x < x1) hovered = bar;
  }
  if (chart.max_error > 0 && chart.max_error < top) {
    const float y = max.y - static_cast<float>(chart.max_error) / static_cast<float>(top) * height;
    list->AddLine({min.x, y}, {max.x, y}, theme.ink_faint);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("executions", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  if (ImGui::IsItemHovered() && hovered) {
    const std::size_t index = longest[*hovered];
    context.view.hovered = model::SelectedReplay{context.view.graph, executions[index].replay};
    execution_tooltip(theme, chart, index, first_of(*hovered + 1) - first_of(*hovered));
    if (ImGui::IsItemClicked()) clicked = index;
  }
  return clicked;
}

namespace {

// The scale of the bars of one execution.
struct BarScale {
  double first = 0, last = 1;  // ns relative to the last arrival
  float left = 0, right = 1;   // screen
  [[nodiscard]] float x_of(double t) const {
    return left + static_cast<float>((t - first) / (last - first)) * (right - left);
  }
};

BarScale scale_of(const std::vector<RankBar>& bars, float left, float right) {
  BarScale scale{.first = 0, .last = 1, .left = left, .right = right};
  for (const RankBar& bar : bars) {
    scale.first = std::min(scale.first, bar.arrived);
    scale.last = std::max({scale.last, bar.ended, bar.waited_until});
  }
  const double margin = (scale.last - scale.first) * 0.02;
  scale.first -= margin;
  scale.last += margin;
  return scale;
}

void draw_axis(const Theme& theme, const BarScale& scale, float top, float bottom) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = chart_font(theme);
  const int ticks =
      std::max(1, static_cast<int>((scale.right - scale.left) / (font->FontSize * 8)));
  for (const AxisTick& tick : time_ticks(scale.first, scale.last, ticks)) {
    const float x = std::floor(scale.x_of(tick.at)) + 0.5f;
    list->AddLine({x, top}, {x, bottom}, theme.line);
    const float width = small_width(font, tick.text);
    list->AddText(font, font->FontSize, {std::min(x - width / 2, scale.right - width), bottom + 2},
                  theme.ink_soft, tick.text.c_str());
  }
}

// Marks the times that the clocks cannot distinguish from the last arrival.
void draw_error(const Theme& theme, const BarScale& scale, Time error, float top, float bottom) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto bound = static_cast<double>(error);
  if (error > 0) {
    const float x0 = std::max(scale.left, scale.x_of(std::max(-bound, scale.first))),
                x1 = scale.x_of(0);
    list->AddRectFilled({x0, top}, {x1, bottom}, with_alpha(theme.warning, 0.10f));
    list->AddLine({x0, top}, {x0, bottom}, with_alpha(theme.warning, 0.5f));
  }
  const float zero = std::floor(scale.x_of(0)) + 0.5f;
  list->AddLine({zero, top}, {zero, bottom}, theme.ink_soft);
}

void bar_tooltip(const Theme& theme, const RanksChart& chart, const RankBar& bar,
                 const std::string& name) {
  const model::CollectiveExecution& e = chart.all.executions[chart.shown];
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(name.c_str());
  const float value = ImGui::GetFontSize() * 7;
  if (bar.rank == kNone) {
    draw_field(theme, "arrived",
               duration_text(-bar.arrived) + " to " + duration_text(-bar.last_arrived) + " before",
               value);
  } else {
    const double wait = bar.waited_until - bar.arrived;
    if (bar.rank == e.last) {
      draw_field(theme, "arrived", "last", value);
      draw_field(theme, "later than others",
                 wait_text(static_cast<double>(e.lateness), chart.max_error) + " (median)", value);
    } else {
      draw_field(theme, "waited", wait_text(wait, chart.max_error), value);
    }
    draw_field(theme, "then took", duration_text(std::max(0.0, bar.ended - bar.waited_until)),
               value);
  }
  if (chart.max_error == trace::kUnknownError) {
    note_line(theme, "The clocks of the ranks have no error bound.");
  } else if (chart.max_error > 0) {
    note_line(theme,
              ("Clocks agree within " + duration_text(static_cast<double>(chart.max_error)) + ".")
                  .c_str());
  }
  ImGui::EndTooltip();
}

}  // namespace

std::optional<std::uint32_t> draw_rank_bars(PanelContext& context, const RanksChart& chart,
                                            std::uint32_t selected_session, ImVec2 size) {
  const Theme& theme = context.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = chart_font(theme);
  const model::CollectiveExecution& e = chart.all.executions[chart.shown];
  const float line = font->FontSize, axis = line + theme.half_space, label = 96 * theme.scale;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float min_row = line + 1;
  // With many ranks, the number of rows that fit without scrolling.
  const auto fitting = static_cast<std::size_t>(std::max(4.0f, (size.y - axis) / min_row - 1));
  const std::vector<RankBar> bars = rank_bars(
      chart.all, e, e.count > kMaxRankBars ? std::min(kMaxRankBars, fitting) : kMaxRankBars);
  const float row = std::clamp(std::floor((size.y - axis) / static_cast<float>(bars.size())),
                               min_row, 26 * theme.scale);
  const float bottom = at.y + row * static_cast<float>(bars.size());
  const BarScale scale = scale_of(bars, at.x + label, at.x + std::max(size.x, label + 40));
  list->AddRectFilled({scale.left, at.y}, {scale.right, bottom}, theme.background, theme.radius);
  draw_axis(theme, scale, at.y, bottom);
  const ImU32 waiting = theme.gap_predecessor,
              transfer = kind_colour(theme, trace::NodeKind::Dispatch);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> hovered;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const RankBar& bar = bars[i];
    const std::uint32_t session =
        bar.rank == kNone ? kNone : chart.collective.ranks[bar.rank].session;
    const float top = at.y + row * static_cast<float>(i), y0 = top + 1, y1 = top + row - 1,
                text_y = std::floor((y0 + y1 - line) / 2);
    if (session == selected_session && session != kNone)
      list->AddRectFilled({at.x, top}, {scale.right, top + row}, theme.accent_soft);
    const std::string name =
        bar.rank == kNone ? count_text(bar.ranks) + " others" : rank_text(chart.document, session);
    list->AddText(font, line, {at.x, text_y}, bar.rank == e.last ? theme.accent : theme.ink,
                  name.c_str());
    const float arrived = scale.x_of(bar.arrived), until = scale.x_of(bar.waited_until),
                ended = std::max(scale.x_of(bar.ended), until + 1);
    // Several ranks: pale until the last of them arrived.
    const float all = std::clamp(scale.x_of(bar.last_arrived), arrived, until);
    list->AddRectFilled({arrived, y0}, {all, y1}, with_alpha(waiting, 0.35f));
    list->AddRectFilled({all, y0}, {until, y1}, waiting);
    list->AddRectFilled({until, y0}, {ended, y1}, transfer);
    const double wait = bar.waited_until - bar.arrived;
    const std::string text = bar.rank == kNone
                                 ? "up to " + duration_text(wait)
                                 : (wait > 0             ? wait_text(wait, chart.max_error)
                                    : bar.rank == e.last ? (e.is_certain ? "last" : "~last")
                                                         : "");
    if (const float width = small_width(font, text); width + 8 <= until - arrived) {
      list->AddText(font, line, {arrived + 4, text_y}, ink_on(waiting), text.c_str());
    } else if (arrived - width - 4 >= scale.left) {
      list->AddText(font, line, {arrived - width - 4, text_y}, theme.ink_soft, text.c_str());
    }
    if (top <= mouse.y && mouse.y < top + row) hovered = i;
  }
  draw_error(theme, scale, chart.max_error, at.y, bottom);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("ranks", {std::max(size.x, 1.0f), bottom + axis - at.y});
  std::optional<std::uint32_t> clicked;
  if (ImGui::IsItemHovered() && hovered) {
    const RankBar& bar = bars[*hovered];
    if (bar.rank == kNone) {
      bar_tooltip(theme, chart, bar, count_text(bar.ranks) + " other ranks");
    } else {
      const model::CollectiveRank& rank = chart.collective.ranks[bar.rank];
      const auto& record = chart.document.find(rank.graph)->graph->record();
      const std::uint32_t node = record.collectives[rank.collective].node;
      context.view.hovered = model::SelectedNode{rank.graph, node};
      bar_tooltip(theme, chart, bar, rank_text(chart.document, rank.session));
      if (ImGui::IsItemClicked()) {
        clicked = rank.session;
        context.view.show_replay(rank.graph, e.replay);
        context.view.select(model::SelectedNode{rank.graph, node});
      }
    }
  }
  return clicked;
}

}  // namespace reprise::viewer
