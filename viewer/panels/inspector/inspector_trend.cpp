#include "panels/inspector/inspector_trend.hpp"

#include <algorithm>
#include <cmath>

#include "model/sampled_replays.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

NodeTrend node_trend(const model::Document& document, model::GraphKey graph, std::uint32_t node,
                     model::ReplayRange range) {
  NodeTrend trend{graph, node, range, {}};
  for (const auto& block : model::blocks_of(document, graph, range, kTrendReplays)) {
    double sum = 0;
    bool has_time = false;
    for (const trace::Sample& sample : block->samples) {
      if (sample.node != node || sample.started == 0) continue;
      sum += sample.duration;
      has_time = true;
    }
    if (has_time) trend.points.push_back({block->replay, sum});
  }
  std::sort(
      trend.points.begin(), trend.points.end(),
      [](const NodeTrend::Point& a, const NodeTrend::Point& b) { return a.replay < b.replay; });
  return trend;
}

std::optional<std::uint64_t> draw_trend(const Theme& theme, const NodeTrend& trend,
                                        std::optional<std::uint64_t> marked, float height) {
  if (trend.points.empty()) return std::nullopt;
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const float width = std::max(40.0f, ImGui::GetContentRegionAvail().x);
  const ImVec2 max{min.x + width, min.y + height};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(min, max, theme.background, theme.radius);
  const float inset = theme.half_space * 1.5f;
  const double first = static_cast<double>(trend.points.front().replay),
               last = static_cast<double>(trend.points.back().replay);
  std::vector<double> values;
  for (const NodeTrend::Point& p : trend.points) values.push_back(p.nanoseconds);
  // The axis starts at 0 and ends above p98, so that outliers do not compress the other points.
  const auto p98 = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 98 / 100);
  std::nth_element(values.begin(), p98, values.end());
  const double top = std::max(*p98 * 1.25, 1.0);
  const auto x_of = [&](std::uint64_t replay) {
    const double part = last > first ? (static_cast<double>(replay) - first) / (last - first) : 0.5;
    return min.x + inset + (width - 2 * inset) * static_cast<float>(part);
  };
  const auto y_of = [&](double value) {
    return max.y - inset - (height - 2 * inset) * static_cast<float>(std::min(1.0, value / top));
  };
  const float radius = std::max(1.5f, 1.8f * theme.scale);
  for (const NodeTrend::Point& p : trend.points) {
    const ImVec2 at{x_of(p.replay), y_of(p.nanoseconds)};
    if (p.nanoseconds > top) {  // above the axis: an arrow
      draw->AddTriangleFilled({at.x, at.y - radius * 1.5f}, {at.x - radius * 1.5f, at.y + radius},
                              {at.x + radius * 1.5f, at.y + radius}, theme.warning);
    } else {
      draw->AddCircleFilled(at, radius, with_alpha(theme.accent, 0.85f), 8);
    }
    if (marked == p.replay) draw->AddCircle(at, radius * 2.6f, theme.ink, 16, 1.5f * theme.scale);
  }
  ImGui::InvisibleButton("trend", {width, height});
  std::optional<std::uint64_t> clicked;
  if (ImGui::IsItemHovered()) {
    const float mouse = ImGui::GetIO().MousePos.x;
    const auto nearest = std::min_element(
        trend.points.begin(), trend.points.end(),
        [&](const NodeTrend::Point& a, const NodeTrend::Point& b) {
          return std::abs(x_of(a.replay) - mouse) < std::abs(x_of(b.replay) - mouse);
        });
    draw->AddCircle({x_of(nearest->replay), y_of(nearest->nanoseconds)}, radius * 2.6f,
                    theme.accent, 16, 1.5f * theme.scale);
    ImGui::SetTooltip("replay %s: %s", count_text(nearest->replay).c_str(),
                      duration_text(nearest->nanoseconds).c_str());
    if (ImGui::IsMouseClicked(0)) clicked = nearest->replay;
  }
  ImGui::PushFont(theme.small);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  const std::string left = "replay " + count_text(trend.points.front().replay),
                    right = count_text(trend.points.back().replay);
  const float start = ImGui::GetCursorPosX();
  ImGui::TextUnformatted(left.c_str());
  const std::string scale = "0 to " + duration_text(top);
  ImGui::SameLine(start + (width - ImGui::CalcTextSize(scale.c_str()).x) / 2);
  ImGui::TextUnformatted(scale.c_str());
  ImGui::SameLine(std::max(0.0f, start + width - ImGui::CalcTextSize(right.c_str()).x));
  ImGui::TextUnformatted(right.c_str());
  ImGui::PopStyleColor();
  ImGui::PopFont();
  return clicked;
}

}  // namespace reprise::viewer
