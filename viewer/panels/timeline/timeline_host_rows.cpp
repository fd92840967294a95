#include "panels/timeline/timeline_host_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "panels/timeline/timeline_density.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

using trace::Replay;

namespace {

constexpr std::size_t kMaxParts = 8;  // names in the tooltip of a block

// Sets the hit of a block that was drawn as a density; null if the mouse is elsewhere.
BlockHit* hit_block(TimelineDrawContext& dc, const TimelineBox& box, const TimelineBlock& block,
                    const model::BusyTime& busy, const char* items) {
  if (!is_below_mouse(dc, box)) return nullptr;
  BlockHit hit{items, block.count(), {dc.time_of(block.started), dc.time_of(block.ended)}};
  hit.here = column_below_mouse(dc);
  hit.busy = busy.between(hit.span.started, hit.span.ended);
  hit.busy_here = busy.between(hit.here.started, hit.here.ended);
  dc.hit = std::move(hit);
  return &std::get<BlockHit>(dc.hit);
}

TimelineSpan span_of(const TimelineDrawContext& dc, const TimelineBlock& block) {
  return {dc.time_of(block.started), dc.time_of(block.ended)};
}

// Counts the items of a block by name, most frequent first. `key_of(i)`: identifies the name.
template <class KeyOf, class NameOf>
void add_counts(BlockHit& hit, const TimelineBlock& block, KeyOf key_of, NameOf name_of) {
  std::map<decltype(key_of(block.first)), std::size_t> counts;
  for (std::size_t i = block.first; i < block.end; ++i) ++counts[key_of(i)];
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [key, count] : counts) sorted.emplace_back(count, name_of(key));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::size_t rest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i < kMaxParts) {
      hit.fields.emplace_back(sorted[i].second, count_text(sorted[i].first));
    } else {
      rest += sorted[i].first;
    }
  }
  if (rest != 0)
    hit.fields.emplace_back(count_text(sorted.size() - kMaxParts) + " others", count_text(rest));
}

// The replays of the row's own graph, and above them those of all others in grey.
DensityOf density_of(const TimelineDrawContext& dc, const TimelineRow& row,
                     const model::ReplayRow& replays, TimelineSpan block) {
  const bool is_one = replays.by_graph.size() == 1;
  const bool has_graph =
      row.kind == TimelineRow::Kind::Rank || row.kind == TimelineRow::Kind::Replays;
  const model::GraphKey graph = is_one      ? replays.by_graph.begin()->first
                                : has_graph ? row.graph
                                            : dc.context.view.graph;
  const auto own = replays.by_graph.find(graph);
  const ImU32 colour = graph_colour(dc, graph), others = dc.context.theme.ink_faint;
  using Reader = model::BusyTime::Reader;
  auto of_own =
      is_one || own == replays.by_graph.end() ? std::optional<Reader>() : Reader(own->second);
  return [is_one, block, colour, others, of_all = Reader(replays.busy), of_own](
             trace::Time from, trace::Time to) mutable {
    const double all = busy_share(of_all, block, from, to),
                 part = is_one   ? all
                        : of_own ? std::min(busy_share(*of_own, block, from, to), all)
                                 : 0;
    return DensityColumn{{{{part, colour}, {all - part, others}, {}}}};
  };
}

bool has_times(const TimelineDrawContext& dc, const model::ReplaySpan& span) {
  if (span.ended > span.started) return true;
  const Replay* const replay = dc.context.document->find_replay(span.graph, span.replay);
  return replay != nullptr && replay->started != 0;
}

void draw_replay(TimelineDrawContext& dc, const TimelineRow& row, const TimelineBox& box,
                 const model::ReplaySpan& span, ReplayHit::Kind kind) {
  const bool is_known = kind == ReplayHit::Kind::Launch || has_times(dc, span);
  std::string text;
  if (box.width() > 20) {
    text = graph_name(*dc.context.document, span.graph) + " " + count_text(span.replay);
    if (row.kind == TimelineRow::Kind::Replays)
      text =
          "replay " + count_text(span.replay) + ", " +
          (is_known ? duration_text(static_cast<double>(span.ended - span.started)) : "no timing");
    if (kind == ReplayHit::Kind::Launch) text = "launch of " + text;
  }
  draw_timeline_box(dc, box, is_known ? graph_colour(dc, span.graph) : dc.context.theme.error,
                    text);
  if (!is_below_mouse(dc, box)) return;
  if (const Replay* replay = dc.context.document->find_replay(span.graph, span.replay))
    dc.hit = ReplayHit{kind, span.graph, *replay};
}

// A row of replays or launches. Replay `shown` of the row's graph has a frame.
void draw_spans(TimelineDrawContext& dc, const TimelineRow& row, const model::ReplayRow& replays,
                ReplayHit::Kind kind, std::uint64_t shown) {
  const auto& spans = replays.spans;
  const CanvasBounds bounds = dc.canvas.visible_area();
  const std::size_t first = spans.lower_bound(
      bounds.left,
      [&](const model::ReplaySpan& s, double at) { return dc.plane_of(s.ended) < at; });
  const std::size_t end = spans.lower_bound(
      bounds.right,
      [&](const model::ReplaySpan& s, double at) { return dc.plane_of(s.started) < at; });
  const auto extent_of = [&](std::size_t i) {
    return TimelineExtent{dc.plane_of(spans[i].started), dc.plane_of(spans[i].ended)};
  };
  for (const TimelineBlock& block :
       merged_blocks(first, std::max(first, end), 1 / dc.canvas.zoom_x(), extent_of)) {
    const TimelineBox box = box_of(dc, row, block.started, block.ended);
    if (block.count() == 1) {
      draw_replay(dc, row, box, spans[block.first], kind);
      continue;
    }
    draw_density(dc, box, density_of(dc, row, replays, span_of(dc, block)));
    BlockHit* const hit = hit_block(dc, box, block, replays.busy,
                                    kind == ReplayHit::Kind::Launch ? "launches" : "replays");
    if (hit == nullptr) continue;
    add_counts(
        *hit, block, [&](std::size_t i) { return spans[i].graph; },
        [&](model::GraphKey graph) { return graph_name(*dc.context.document, graph); });
  }
  if (row.kind != TimelineRow::Kind::Replays && row.kind != TimelineRow::Kind::Rank) return;
  if (row.kind == TimelineRow::Kind::Replays && !(row.graph == dc.context.view.graph)) return;
  const Replay* const replay = dc.context.document->find_replay(row.graph, shown);
  if (replay == nullptr || replay->started == 0) return;
  const TimelineBox box = box_of(dc, row, dc.plane_of(replay->started), dc.plane_of(replay->ended));
  ImGui::GetWindowDrawList()->AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x, box.max.y + 1},
                                      dc.context.theme.accent, 2 * dc.context.theme.scale, 0,
                                      1.5f * dc.context.theme.scale);
}

ImU32 idle_fill(const Theme& theme, model::IdleCause cause) {
  return muted(theme, idle_colour(theme, cause), 0.45f);
}

void draw_idle(TimelineDrawContext& dc, const TimelineRow& row, const model::IdleRow& idle) {
  const Theme& theme = dc.context.theme;
  const CanvasBounds bounds = dc.canvas.visible_area();
  const auto& gaps = idle.gaps;
  const auto first = std::partition_point(
      gaps.begin(), gaps.end(), [&](const auto& g) { return dc.plane_of(g.ended) < bounds.left; });
  const auto end = std::partition_point(
      first, gaps.end(), [&](const auto& g) { return dc.plane_of(g.started) < bounds.right; });
  const auto extent_of = [&](std::size_t i) {
    return TimelineExtent{dc.plane_of(gaps[i].started), dc.plane_of(gaps[i].ended)};
  };
  constexpr model::IdleCause kCauses[] = {model::IdleCause::Host, model::IdleCause::Launch,
                                          model::IdleCause::Unknown};
  const std::array fills{idle_fill(theme, kCauses[0]), idle_fill(theme, kCauses[1]),
                         idle_fill(theme, kCauses[2])};
  for (const TimelineBlock& block : merged_blocks(static_cast<std::size_t>(first - gaps.begin()),
                                                  static_cast<std::size_t>(end - gaps.begin()),
                                                  1 / dc.canvas.zoom_x(), extent_of)) {
    const TimelineBox box = box_of(dc, row, block.started, block.ended);
    if (block.count() > 1) {
      const TimelineSpan span = span_of(dc, block);
      std::array<model::BusyTime::Reader, 3> readers{model::BusyTime::Reader(idle.by_cause[0]),
                                                     model::BusyTime::Reader(idle.by_cause[1]),
                                                     model::BusyTime::Reader(idle.by_cause[2])};
      draw_density(dc, box, [&](trace::Time from, trace::Time to) {
        DensityColumn column;
        for (std::size_t i = 0; i < column.parts.size(); ++i)
          column.parts[i] = {busy_share(readers[i], span, from, to), fills[i]};
        return column;
      });
      // Its time is that of all causes.
      BlockHit* const hit = hit_block(dc, box, block, idle.by_cause[0], "gaps");
      if (hit == nullptr) continue;
      hit->busy_name = "idle";
      for (std::size_t i = 0; i < idle.by_cause.size(); ++i) {
        const trace::Time time = idle.by_cause[i].between(span.started, span.ended);
        if (i != 0) {
          hit->busy += time;
          hit->busy_here += idle.by_cause[i].between(hit->here.started, hit->here.ended);
        }
        if (time != 0)
          hit->fields.emplace_back(idle_name(kCauses[i]), duration_text(static_cast<double>(time)));
      }
      continue;
    }
    const model::IdleGap& gap = gaps[block.first];
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.min, box.max, idle_fill(theme, gap.cause));
    if (is_below_mouse(dc, box)) list.AddRect(box.min, box.max, theme.ink_soft);
    if (box.width() > 40)
      draw_text_in(dc, box,
                   std::string(idle_name(gap.cause)) + " " +
                       duration_text(static_cast<double>(gap.ended - gap.started)),
                   theme.ink);
    if (is_below_mouse(dc, box)) dc.hit = IdleHit{gap};
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
    const ImVec2 at{dc.canvas.min().x + theme.half_space, std::floor(y)};
    const float width = theme.small->CalcTextSizeA(line, 1e9f, 0, text.c_str()).x;
    list.AddRectFilled({at.x - theme.half_space, at.y},
                       {at.x + width + theme.half_space, at.y + line}, theme.panel);
    list.AddText(theme.small, line, at, theme.ink_soft, text.c_str());
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
    const auto& spans = found->second.spans;
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
      const ImU32 fill = muted(theme, category(theme, 2), 0.7f);
      if (block.count() == 1) {
        draw_timeline_box(dc, box, fill, range.name);
        if (is_below_mouse(dc, box)) dc.hit = RangeHit{range};
        continue;
      }
      const model::BusyTime& busy = found->second.busy;
      model::BusyTime::Reader reader(busy);
      draw_density(dc, box, [&, span = span_of(dc, block)](trace::Time from, trace::Time to) {
        return DensityColumn{{{{busy_share(reader, span, from, to), fill}, {}, {}}}};
      });
      BlockHit* const hit = hit_block(dc, box, block, busy, "host ranges");
      if (hit == nullptr) continue;
      add_counts(
          *hit, block,
          [&](std::size_t i) { return std::string_view(host.ranges[spans[i].range].name); },
          [](std::string_view name) { return std::string(name); });
    }
  }
}

std::string graph_name(const model::Document& document, model::GraphKey graph) {
  const model::GraphEntry* const entry = document.find(graph);
  return entry == nullptr ? "graph " + std::to_string(graph.graph) : entry->graph->name();
}

ImU32 graph_colour(const TimelineDrawContext& dc, model::GraphKey graph) {
  const Theme& theme = dc.context.theme;
  if (graph == dc.context.view.graph) return muted(theme, theme.accent, 0.75f);
  std::uint64_t number = graph.graph;
  if (dc.context.document->has_ranks()) {  // one colour on all ranks
    if (is_like_shown(dc.context, graph)) return muted(theme, theme.accent, 0.55f);
    const model::GraphEntry* const entry = dc.context.document->find(graph);
    if (entry != nullptr) number = entry->graph->topology();
  }
  // The first category resembles the accent colour.
  return muted(theme, distinct_colour(theme, 1 + static_cast<std::uint32_t>(number % 20)), 0.75f);
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
                           std::uint64_t shown) {
  const auto draw = [&](const TimelineRow& row, const auto& rows, const auto& id,
                        ReplayHit::Kind kind) {
    if (const auto found = rows.find(id); found != rows.end())
      draw_spans(dc, row, found->second, kind, shown);
  };
  for (const TimelineRow& row : dc.layout.rows) {
    if (!dc.is_visible(row)) continue;
    switch (row.kind) {
      case TimelineRow::Kind::Rank:
        for (const std::uint32_t queue : dc.ranks.ranks[row.id].queues)
          draw(row, activity.queues, queue, ReplayHit::Kind::Device);
        break;
      case TimelineRow::Kind::Launches:
        draw(row, activity.threads, row.id, ReplayHit::Kind::Launch);
        break;
      case TimelineRow::Kind::Queue:
        draw(row, activity.queues, row.id, ReplayHit::Kind::Device);
        break;
      case TimelineRow::Kind::Replays:
        draw(row, activity.graphs, row.graph, ReplayHit::Kind::Device);
        break;
      case TimelineRow::Kind::Idle:
        if (const auto idle = activity.idle.find(row.id); idle != activity.idle.end())
          draw_idle(dc, row, idle->second);
        break;
      case TimelineRow::Kind::Title:
      case TimelineRow::Kind::Folded:
      case TimelineRow::Kind::Ranges:
      case TimelineRow::Kind::Active:
      case TimelineRow::Kind::Nodes:
      case TimelineRow::Kind::Labels: break;
    }
  }
  const PanelContext& context = dc.context;
  const Replay* const replay = context.document->find_replay(context.view.graph, shown);
  if (replay != nullptr) draw_shown_launch(dc, *replay);
}

}  // namespace reprise::viewer
