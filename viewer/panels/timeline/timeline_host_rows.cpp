#include "panels/timeline/timeline_host_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

using trace::Replay;

namespace {

constexpr std::uint32_t kOtherGraphs = 2;  // where colours of graphs begin

ImU32 graph_colour(const TimelineDrawContext& sight, model::GraphKey graph) {
  const Theme& theme = sight.context.theme;
  if (graph == sight.context.view.graph) return muted(theme, theme.accent, 0.62f);
  return muted(theme, category(theme, kOtherGraphs + graph.graph % 5), 0.6f);
}

TimelineExtent device_extent(const TimelineDrawContext& sight, const Replay& r) {
  if (r.started != 0 && r.ended >= r.started)
    return {sight.plane_of(r.started), sight.plane_of(r.ended)};
  const double at = sight.plane_of(r.launched);
  return {at, at};
}

TimelineExtent launch_extent(const TimelineDrawContext& sight, const Replay& r) {
  return {sight.plane_of(r.launched), sight.plane_of(std::max(r.launch_returned, r.launched))};
}

void draw_device(TimelineDrawContext& sight, const ReplaysInSight& of, std::uint64_t shown) {
  const TimelineRow* const row = sight.layout.find(of.graph);
  if (row == nullptr || !sight.is_in_sight(*row)) return;
  const Theme& theme = sight.context.theme;
  const auto blocks =
      merged_blocks(of.first, of.end, 1 / sight.canvas.zoom_x(),
                    [&](std::size_t i) { return device_extent(sight, of.replays[i]); });
  for (const TimelineBlock& block : blocks) {
    const TimelineBox box = box_of(sight, *row, block.began, block.ended);
    const Replay& replay = of.replays[block.first];
    const bool is_shown = of.graph == sight.context.view.graph && replay.replay <= shown &&
                          of.replays[block.end - 1].replay >= shown;
    const bool is_known = block.count() > 1 || replay.started != 0;
    std::string text = count_text(block.count()) + " replays";
    if (block.count() == 1) {
      text = "replay " + count_text(replay.replay) +
             (is_known ? ", " + duration_text(static_cast<double>(replay.ended - replay.started))
                       : ": no time");
    }
    draw_timeline_box(sight, box, is_known ? graph_colour(sight, of.graph) : theme.error, text);
    if (is_shown)
      ImGui::GetWindowDrawList()->AddRect({box.min.x - 1, box.min.y - 1},
                                          {box.max.x, box.max.y + 1}, theme.accent, 2 * theme.scale,
                                          0, 1.5f * theme.scale);
    if (is_below_mouse(sight, box))
      sight.hit = ReplayHit{ReplayHit::What::Device, of.graph, replay, block.count()};
  }
}

void draw_launches(TimelineDrawContext& sight, const ReplaysInSight& of) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_thread;
  for (std::size_t i = of.first; i < of.end; ++i) {
    if (of.replays[i].launched != 0) by_thread[of.replays[i].thread].push_back(i);
  }
  for (const auto& [thread, places] : by_thread) {
    const TimelineRow* const row = sight.layout.find(TimelineRow::Of::Launches, thread, 0);
    if (row == nullptr || !sight.is_in_sight(*row)) continue;
    const auto extent_of = [&, &all = places](std::size_t i) {
      return launch_extent(sight, of.replays[all[i]]);
    };
    for (const TimelineBlock& block :
         merged_blocks(0, places.size(), 1 / sight.canvas.zoom_x(), extent_of)) {
      const TimelineBox box = box_of(sight, *row, block.began, block.ended);
      const Replay& replay = of.replays[places[block.first]];
      const std::string text = block.count() == 1 ? "launch of " + count_text(replay.replay)
                                                  : count_text(block.count()) + " launches";
      draw_timeline_box(sight, box, graph_colour(sight, of.graph), text);
      if (is_below_mouse(sight, box))
        sight.hit = ReplayHit{ReplayHit::What::Launch, of.graph, replay, block.count()};
    }
  }
}

// From the call of launch to where the shown replay starts.
void draw_shown_launch(const TimelineDrawContext& sight, const Replay& replay) {
  const TimelineRow* const from = sight.layout.find(TimelineRow::Of::Launches, replay.thread, 0);
  const TimelineRow* const to = sight.layout.find(sight.context.view.graph);
  if (from == nullptr || to == nullptr || replay.launched == 0 || replay.started == 0) return;
  const Theme& theme = sight.context.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float left = sight.canvas.min().x - 40, right = sight.canvas.max().x + 40;
  if (const float x = sight.x_of(std::max(replay.launched, replay.launch_returned));
      x < sight.canvas.min().x) {
    const std::string text = "< launched " +
                             duration_text(static_cast<double>(replay.started - replay.launched)) +
                             " before it started";
    const float line = theme.small->FontSize, y = sight.top + from->top + (from->height - line) / 2;
    list.AddText(theme.small, line, {sight.canvas.min().x + theme.half_space, std::floor(y)},
                 theme.ink_soft, text.c_str());
    return;
  }
  const ImVec2 a{std::clamp(sight.x_of(replay.launched), left, right),
                 sight.top + from->top + from->height};
  const ImVec2 b{std::clamp(sight.x_of(replay.started), left, right), sight.top + to->top};
  list.AddLine({a.x, a.y - from->height}, a, theme.accent, 1.5f * theme.scale);
  list.AddLine(a, b, theme.accent, 1.5f * theme.scale);
  const float size = 4 * theme.scale;
  list.AddTriangleFilled({b.x - size, b.y - size}, {b.x + size, b.y - size}, b, theme.accent);
}

}  // namespace

void draw_timeline_ranges(TimelineDrawContext& sight, const HostRows& host) {
  const CanvasBounds bounds = sight.canvas.in_sight();
  const Theme& theme = sight.context.theme;
  for (const auto& [key, spans] : host.rows) {
    const TimelineRow* const row =
        sight.layout.find(TimelineRow::Of::Ranges, key.first, key.second);
    if (row == nullptr || !sight.is_in_sight(*row)) continue;
    const std::size_t first = spans.lower_bound(
        bounds.left, [&](const HostSpan& s, double at) { return sight.plane_of(s.ended) < at; });
    const std::size_t end = spans.lower_bound(
        bounds.right, [&](const HostSpan& s, double at) { return sight.plane_of(s.began) < at; });
    const auto extent_of = [&, &all = spans](std::size_t i) {
      return TimelineExtent{sight.plane_of(all[i].began), sight.plane_of(all[i].ended)};
    };
    for (const TimelineBlock& block :
         merged_blocks(first, std::max(first, end), 1 / sight.canvas.zoom_x(), extent_of)) {
      const TimelineBox box = box_of(sight, *row, block.began, block.ended);
      const trace::HostRange& range = host.ranges[spans[block.first].range];
      draw_timeline_box(sight, box, muted(theme, category(theme, 2), 0.5f),
                        block.count() == 1 ? range.name : count_text(block.count()) + " ranges");
      if (is_below_mouse(sight, box)) sight.hit = RangeHit{range, block.count()};
    }
  }
}

void draw_timeline_replays(TimelineDrawContext& sight, const std::vector<ReplaysInSight>& all,
                           std::uint64_t shown) {
  for (const ReplaysInSight& of : all) {
    draw_device(sight, of, shown);
    draw_launches(sight, of);
  }
  const PanelContext& context = sight.context;
  const Replay* const replay = context.document->find_replay(context.view.graph, shown);
  if (replay != nullptr) draw_shown_launch(sight, *replay);
}

}  // namespace reprise::viewer
