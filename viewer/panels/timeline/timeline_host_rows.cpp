#include "panels/timeline/timeline_host_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

using trace::Replay;

namespace {

constexpr std::uint32_t kFirstGraphColour = 2;  // first category colour of graphs

ImU32 graph_colour(const TimelineDrawContext& dc, model::GraphKey graph) {
  const Theme& theme = dc.context.theme;
  if (graph == dc.context.view.graph) return muted(theme, theme.accent, 0.62f);
  return muted(theme, category(theme, kFirstGraphColour + graph.graph % 5), 0.6f);
}

TimelineExtent device_extent(const TimelineDrawContext& dc, const Replay& r) {
  if (r.started != 0 && r.ended >= r.started) return {dc.plane_of(r.started), dc.plane_of(r.ended)};
  const double at = dc.plane_of(r.launched);
  return {at, at};
}

TimelineExtent launch_extent(const TimelineDrawContext& dc, const Replay& r) {
  return {dc.plane_of(r.launched), dc.plane_of(std::max(r.launch_returned, r.launched))};
}

void draw_device(TimelineDrawContext& dc, const VisibleReplays& of, std::uint64_t shown) {
  const TimelineRow* const row = dc.layout.find(of.graph);
  if (row == nullptr || !dc.is_visible(*row)) return;
  const Theme& theme = dc.context.theme;
  const auto blocks = merged_blocks(of.first, of.end, 1 / dc.canvas.zoom_x(), [&](std::size_t i) {
    return device_extent(dc, of.replays[i]);
  });
  for (const TimelineBlock& block : blocks) {
    const TimelineBox box = box_of(dc, *row, block.started, block.ended);
    const Replay& replay = of.replays[block.first];
    const bool is_shown = of.graph == dc.context.view.graph && replay.replay <= shown &&
                          of.replays[block.end - 1].replay >= shown;
    const bool is_known = block.count() > 1 || replay.started != 0;
    std::string text = count_text(block.count()) + " replays";
    if (block.count() == 1) {
      text = "replay " + count_text(replay.replay) +
             (is_known ? ", " + duration_text(static_cast<double>(replay.ended - replay.started))
                       : ", no timing");
    }
    draw_timeline_box(dc, box, is_known ? graph_colour(dc, of.graph) : theme.error, text);
    if (is_shown)
      ImGui::GetWindowDrawList()->AddRect({box.min.x - 1, box.min.y - 1},
                                          {box.max.x, box.max.y + 1}, theme.accent, 2 * theme.scale,
                                          0, 1.5f * theme.scale);
    if (is_below_mouse(dc, box))
      dc.hit = ReplayHit{ReplayHit::Kind::Device, of.graph, replay, block.count()};
  }
}

void draw_launches(TimelineDrawContext& dc, const VisibleReplays& of) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_thread;
  for (std::size_t i = of.first; i < of.end; ++i) {
    if (of.replays[i].launched != 0) by_thread[of.replays[i].thread].push_back(i);
  }
  for (const auto& [thread, indices] : by_thread) {
    const TimelineRow* const row = dc.layout.find(TimelineRow::Kind::Launches, thread, 0);
    if (row == nullptr || !dc.is_visible(*row)) continue;
    const auto extent_of = [&, &all = indices](std::size_t i) {
      return launch_extent(dc, of.replays[all[i]]);
    };
    for (const TimelineBlock& block :
         merged_blocks(0, indices.size(), 1 / dc.canvas.zoom_x(), extent_of)) {
      const TimelineBox box = box_of(dc, *row, block.started, block.ended);
      const Replay& replay = of.replays[indices[block.first]];
      const std::string text = block.count() == 1 ? "launch of " + count_text(replay.replay)
                                                  : count_text(block.count()) + " launches";
      draw_timeline_box(dc, box, graph_colour(dc, of.graph), text);
      if (is_below_mouse(dc, box))
        dc.hit = ReplayHit{ReplayHit::Kind::Launch, of.graph, replay, block.count()};
    }
  }
}

// Arrow from the launch call to the start of the shown replay.
void draw_shown_launch(const TimelineDrawContext& dc, const Replay& replay) {
  const TimelineRow* const from = dc.layout.find(TimelineRow::Kind::Launches, replay.thread, 0);
  const TimelineRow* const to = dc.layout.find(dc.context.view.graph);
  if (from == nullptr || to == nullptr || replay.launched == 0 || replay.started == 0) return;
  const Theme& theme = dc.context.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float left = dc.canvas.min().x - 40, right = dc.canvas.max().x + 40;
  if (const float x = dc.x_of(std::max(replay.launched, replay.launch_returned));
      x < dc.canvas.min().x) {
    const std::string text = "< launched " +
                             duration_text(static_cast<double>(replay.started - replay.launched)) +
                             " before start";
    const float line = theme.small->FontSize, y = dc.top + from->top + (from->height - line) / 2;
    list.AddText(theme.small, line, {dc.canvas.min().x + theme.half_space, std::floor(y)},
                 theme.ink_soft, text.c_str());
    return;
  }
  const ImVec2 a{std::clamp(dc.x_of(replay.launched), left, right),
                 dc.top + from->top + from->height};
  const ImVec2 b{std::clamp(dc.x_of(replay.started), left, right), dc.top + to->top};
  list.AddLine({a.x, a.y - from->height}, a, theme.accent, 1.5f * theme.scale);
  list.AddLine(a, b, theme.accent, 1.5f * theme.scale);
  const float size = 4 * theme.scale;
  list.AddTriangleFilled({b.x - size, b.y - size}, {b.x + size, b.y - size}, b, theme.accent);
}

}  // namespace

void draw_timeline_ranges(TimelineDrawContext& dc, const HostRows& host) {
  const CanvasBounds bounds = dc.canvas.visible_area();
  const Theme& theme = dc.context.theme;
  for (const auto& [key, spans] : host.rows) {
    const TimelineRow* const row = dc.layout.find(TimelineRow::Kind::Ranges, key.first, key.second);
    if (row == nullptr || !dc.is_visible(*row)) continue;
    const std::size_t first = spans.lower_bound(
        bounds.left, [&](const HostSpan& s, double at) { return dc.plane_of(s.ended) < at; });
    const std::size_t end = spans.lower_bound(
        bounds.right, [&](const HostSpan& s, double at) { return dc.plane_of(s.started) < at; });
    const auto extent_of = [&, &all = spans](std::size_t i) {
      return TimelineExtent{dc.plane_of(all[i].started), dc.plane_of(all[i].ended)};
    };
    for (const TimelineBlock& block :
         merged_blocks(first, std::max(first, end), 1 / dc.canvas.zoom_x(), extent_of)) {
      const TimelineBox box = box_of(dc, *row, block.started, block.ended);
      const trace::HostRange& range = host.ranges[spans[block.first].range];
      draw_timeline_box(dc, box, muted(theme, category(theme, 2), 0.5f),
                        block.count() == 1 ? range.name : count_text(block.count()) + " ranges");
      if (is_below_mouse(dc, box)) dc.hit = RangeHit{range, block.count()};
    }
  }
}

void draw_timeline_replays(TimelineDrawContext& dc, const std::vector<VisibleReplays>& all,
                           std::uint64_t shown) {
  for (const VisibleReplays& of : all) {
    draw_device(dc, of, shown);
    draw_launches(dc, of);
  }
  const PanelContext& context = dc.context;
  const Replay* const replay = context.document->find_replay(context.view.graph, shown);
  if (replay != nullptr) draw_shown_launch(dc, *replay);
}

}  // namespace reprise::viewer
