#include "panels/timeline/timeline_host_rows.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

using trace::Replay;

namespace {

constexpr std::uint32_t kFirstGraphColour = 2;  // first category colour of graphs

TimelineExtent device_extent(const TimelineDrawContext& dc, const Replay& r) {
  if (r.started != 0 && r.ended >= r.started) return {dc.plane_of(r.started), dc.plane_of(r.ended)};
  const double at = dc.plane_of(r.launched);
  return {at, at};
}

void draw_device(TimelineDrawContext& dc, const VisibleReplays& of, std::uint64_t shown) {
  const TimelineRow* const row = dc.layout.find(TimelineRow::Kind::Replays, 0, 0, of.graph);
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

std::string graph_name(const TimelineDrawContext& dc, model::GraphKey graph) {
  const model::GraphEntry* const entry = dc.context.document->find(graph);
  return entry == nullptr ? "graph " + std::to_string(graph.graph) : entry->graph->name();
}

// A row of replays or launches of several graphs. Replay `shown` of the row's graph has a frame.
void draw_spans(TimelineDrawContext& dc, const TimelineRow& row,
                const model::ListView<model::ReplaySpan>& spans, ReplayHit::Kind kind,
                std::uint64_t shown) {
  const CanvasBounds bounds = dc.canvas.visible_area();
  const std::size_t first = spans.lower_bound(
      bounds.left,
      [&](const model::ReplaySpan& s, double at) { return dc.plane_of(s.ended) < at; });
  const std::size_t end = spans.lower_bound(
      bounds.right,
      [&](const model::ReplaySpan& s, double at) { return dc.plane_of(s.started) < at; });
  const bool is_launch = kind == ReplayHit::Kind::Launch;
  const auto extent_of = [&](std::size_t i) {
    return TimelineExtent{dc.plane_of(spans[i].started), dc.plane_of(spans[i].ended)};
  };
  for (const TimelineBlock& block :
       merged_blocks(first, std::max(first, end), 1 / dc.canvas.zoom_x(), extent_of)) {
    const TimelineBox box = box_of(dc, row, block.started, block.ended);
    const model::ReplaySpan& span = spans[block.first];
    const bool is_mixed = !(span.graph == spans[block.end - 1].graph);
    std::string text;
    if (box.width() > 20) {
      text = block.count() == 1
                 ? graph_name(dc, span.graph) + " " + count_text(span.replay)
                 : count_text(block.count()) + (is_launch ? " launches" : " replays");
    }
    draw_timeline_box(dc, box,
                      is_mixed ? muted(dc.context.theme, dc.context.theme.ink_soft, 0.5f)
                               : graph_colour(dc, span.graph),
                      block.count() == 1 && is_launch ? "launch of " + text : text);
    if (block.count() == 1 && span.graph == row.graph && span.replay == shown)
      ImGui::GetWindowDrawList()->AddRect(box.min, box.max, dc.context.theme.accent, 0, 0,
                                          1.5f * dc.context.theme.scale);
    if (!is_below_mouse(dc, box)) continue;
    if (const trace::Replay* replay = dc.context.document->find_replay(span.graph, span.replay))
      dc.hit = ReplayHit{kind, span.graph, *replay, block.count()};
  }
}

void draw_idle(TimelineDrawContext& dc, const TimelineRow& row,
               const std::vector<model::IdleGap>& idle) {
  const Theme& theme = dc.context.theme;
  const CanvasBounds bounds = dc.canvas.visible_area();
  const auto first = std::partition_point(
      idle.begin(), idle.end(), [&](const auto& g) { return dc.plane_of(g.ended) < bounds.left; });
  const auto end = std::partition_point(
      first, idle.end(), [&](const auto& g) { return dc.plane_of(g.started) < bounds.right; });
  const auto extent_of = [&](std::size_t i) {
    return TimelineExtent{dc.plane_of(idle[i].started), dc.plane_of(idle[i].ended)};
  };
  for (const TimelineBlock& block : merged_blocks(static_cast<std::size_t>(first - idle.begin()),
                                                  static_cast<std::size_t>(end - idle.begin()),
                                                  1 / dc.canvas.zoom_x(), extent_of)) {
    const model::IdleGap& gap = idle[block.first];
    const TimelineBox box = box_of(dc, row, block.started, block.ended);
    const bool is_one = block.count() == 1;
    const ImU32 colour = is_one ? idle_colour(theme, gap.cause) : theme.ink_faint;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.min, box.max, with_alpha(colour, is_one ? 0.32f : 0.2f));
    if (is_below_mouse(dc, box)) list.AddRect(box.min, box.max, theme.ink_soft);
    if (box.width() > 40)
      draw_text_in(dc, box,
                   is_one ? std::string(idle_name(gap.cause)) + " " +
                                duration_text(static_cast<double>(gap.ended - gap.started))
                          : count_text(block.count()) + " gaps",
                   theme.ink_soft);
    if (is_below_mouse(dc, box)) dc.hit = IdleHit{gap, block.count()};
  }
}

// Arrow from the launch call to the start of the shown replay.
void draw_shown_launch(const TimelineDrawContext& dc, const Replay& replay) {
  const TimelineRow* const from = dc.layout.find(TimelineRow::Kind::Launches, replay.thread, 0);
  const TimelineRow* const to =
      dc.layout.find(TimelineRow::Kind::Replays, 0, 0, dc.context.view.graph);
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
  for (const TimelineRow& row : dc.layout.rows) {
    if (row.kind != TimelineRow::Kind::Ranges || !dc.is_visible(row)) continue;
    const auto found = host.rows.find({row.id, static_cast<std::uint16_t>(row.level)});
    if (found == host.rows.end()) continue;
    const auto& spans = found->second;
    const std::size_t first = spans.lower_bound(
        bounds.left, [&](const HostSpan& s, double at) { return dc.plane_of(s.ended) < at; });
    const std::size_t end = spans.lower_bound(
        bounds.right, [&](const HostSpan& s, double at) { return dc.plane_of(s.started) < at; });
    const auto extent_of = [&](std::size_t i) {
      return TimelineExtent{dc.plane_of(spans[i].started), dc.plane_of(spans[i].ended)};
    };
    for (const TimelineBlock& block :
         merged_blocks(first, std::max(first, end), 1 / dc.canvas.zoom_x(), extent_of)) {
      const TimelineBox box = box_of(dc, row, block.started, block.ended);
      const trace::HostRange& range = host.ranges[spans[block.first].range];
      draw_timeline_box(dc, box, muted(theme, category(theme, 2), 0.5f),
                        block.count() == 1 ? range.name : count_text(block.count()) + " ranges");
      if (is_below_mouse(dc, box)) dc.hit = RangeHit{range, block.count()};
    }
  }
}

ImU32 graph_colour(const TimelineDrawContext& dc, model::GraphKey graph) {
  const Theme& theme = dc.context.theme;
  if (graph == dc.context.view.graph) return muted(theme, theme.accent, 0.62f);
  std::uint64_t number = graph.graph;
  if (dc.context.document->has_ranks()) {  // one colour on all ranks
    if (is_like_shown(dc.context, graph)) return muted(theme, theme.accent, 0.45f);
    const model::GraphEntry* const entry = dc.context.document->find(graph);
    if (entry != nullptr) number = entry->graph->topology();
  }
  return muted(theme, category(theme, kFirstGraphColour + static_cast<std::uint32_t>(number % 5)),
               0.6f);
}

ImU32 idle_colour(const Theme& theme, model::IdleCause cause) {
  switch (cause) {
    case model::IdleCause::Host: return theme.warning;
    case model::IdleCause::Launch: return theme.gap_bubble;
    case model::IdleCause::Unknown: break;
  }
  return theme.ink_faint;
}

const char* idle_name(model::IdleCause cause) {
  switch (cause) {
    case model::IdleCause::Host: return "waiting for launch";
    case model::IdleCause::Launch: return "launch-to-start latency";
    case model::IdleCause::Unknown: break;
  }
  return "idle";
}

void draw_timeline_replays(TimelineDrawContext& dc, const model::Activity& activity,
                           const TimelineRanks& ranks, const std::vector<VisibleReplays>& all,
                           std::uint64_t shown) {
  const auto draw = [&](const TimelineRow& row, const auto& all_spans, std::uint32_t id,
                        ReplayHit::Kind kind) {
    if (const auto spans = all_spans.find(id); spans != all_spans.end())
      draw_spans(dc, row, spans->second, kind, shown);
  };
  for (const TimelineRow& row : dc.layout.rows) {
    if (!dc.is_visible(row)) continue;
    switch (row.kind) {
      case TimelineRow::Kind::Rank:
        for (const std::uint32_t queue : ranks.ranks[row.id].queues)
          draw(row, activity.queues, queue, ReplayHit::Kind::Device);
        break;
      case TimelineRow::Kind::Launches:
        draw(row, activity.threads, row.id, ReplayHit::Kind::Launch);
        break;
      case TimelineRow::Kind::Queue:
        draw(row, activity.queues, row.id, ReplayHit::Kind::Device);
        break;
      case TimelineRow::Kind::Idle:
        if (const auto idle = activity.idle.find(row.id); idle != activity.idle.end())
          draw_idle(dc, row, idle->second);
        break;
      case TimelineRow::Kind::Title:
      case TimelineRow::Kind::Folded:
      case TimelineRow::Kind::Ranges:
      case TimelineRow::Kind::Replays:
      case TimelineRow::Kind::Nodes:
      case TimelineRow::Kind::Labels: break;
    }
  }
  for (const VisibleReplays& of : all) draw_device(dc, of, shown);
  const PanelContext& context = dc.context;
  const Replay* const replay = context.document->find_replay(context.view.graph, shown);
  if (replay != nullptr) draw_shown_launch(dc, *replay);
}

}  // namespace reprise::viewer
