#include "panels/inspector/inspector_replay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// A duration and its difference to the median.
std::string compared_text(trace::Time value, const model::ReplayStatistics* statistics) {
  if (value < 0) return "unknown";
  std::string text = duration_text(static_cast<double>(value));
  if (statistics != nullptr && statistics->count > 1 && statistics->median > 0) {
    text += "   (" +
            change_text(static_cast<double>(value) / static_cast<double>(statistics->median) - 1) +
            ")";
  }
  return text;
}

void draw_execution(const PanelContext& context, const trace::Replay& replay) {
  const Theme& theme = context.theme;
  if (!draw_section(theme, "Execution")) return;
  const model::Document& document = *context.document;
  draw_value(theme, "Queue", document.queue_name(replay.queue));
  if (replay.exec != 0)  // most graphs have one
    draw_mono(theme, "Instantiation", count_text(replay.exec), "Of several of this graph, from 0.");
  const auto thread = document.thread_names->find(replay.thread);
  draw_value(theme, "Launch thread",
             thread != document.thread_names->end() ? thread->second.name
                                                    : "thread " + count_text(replay.thread));
  const std::string source = measured_by(*context.entry, replay);
  draw_value(theme, "Node times",
             replay.sampled == 0 ? "not sampled"
             : source.empty()    ? "measured"
                                 : "measured " + source);
}

const ReplayViewModel* shown_replay(const PanelContext& context, const trace::Replay& replay) {
  return context.replay != nullptr && context.replay->replay.replay == replay.replay &&
                 context.replay->block != nullptr
             ? context.replay
             : nullptr;
}

constexpr std::size_t kShownParts = 10;

std::string signed_text(double ns) { return (ns < 0 ? "-" : "+") + duration_text(std::abs(ns)); }

void draw_part(PanelContext& context, const model::SlowdownPart& part) {
  const model::Graph& graph = *context.graph();
  const std::string times = duration_text(part.time) + ", median " + duration_text(part.median);
  if (part.kind == model::SlowdownKind::Node) {
    const std::string path = graph.label_path(graph.record().nodes[part.node].label);
    return draw_node_link(context, part.node, signed_text(part.excess()),
                          times + (path.empty() ? "" : ", " + path));
  }
  const bool is_gap = part.kind == model::SlowdownKind::Gap;
  const bool clicked =
      draw_link(context.theme,
                {model::part_name(graph, part), signed_text(part.excess()),
                 times + (part.edge == trace::kNone ? "" : ", " + edge_reason(graph, part.edge))});
  if (!is_gap) return;
  const model::SelectedNode node{graph.key(), part.node};
  if (ImGui::IsItemHovered()) context.view.hovered = node;
  if (clicked) context.view.select(node);
}

// A line that completes the sum of the parts.
void draw_sum(const Theme& theme, const char* name, double value, const char* explanation) {
  draw_mono(theme, name, signed_text(value), explanation);
}

void draw_path(PanelContext& context, const ReplayViewModel& shown) {
  const model::CriticalPath& path = shown.path;
  if (path.steps.empty() || !draw_section(context.theme, "Measured critical path",
                                          count_text(path.steps.size()) + " nodes"))
    return;
  const std::array<Tile, 3> tiles{
      {{"work", duration_text(path.work), "Time in which nodes of the path run."},
       {"wait", duration_text(path.wait), "Time between nodes of the path."},
       {"total", duration_text(path.work + path.wait),
        "From the start of the first node to the end of the last."}}};
  draw_tiles(context.theme, tiles);
  draw_list(context.theme, "path", path.steps.size(), ListRow::TwoLines, [&](std::size_t i) {
    const model::PathStep& step = path.steps[i];
    std::string reason =
        step.edge == trace::kNone ? "first" : edge_reason(*context.graph(), step.edge);
    if (step.wait > 0)
      reason =
          "wait " + duration_text(step.wait) + (step.edge == trace::kNone ? "" : ", " + reason);
    draw_node_link(context, step.node, duration_text(step.duration), reason);
  });
}

void draw_times(const PanelContext& context, const trace::Replay& replay) {
  const Theme& theme = context.theme;
  const ReplaySummary* all = context.summary;
  if (!draw_section(theme, "Time",
                    context.view.has_range() ? "vs. the median of the range" : "vs. the median"))
    return;
  draw_mono(theme, "Device time",
            compared_text(model::measure(replay, model::ReplayMeasure::DeviceTime),
                          all ? &all->device_time : nullptr),
            "From start to end on the device.");
  if (all != nullptr && all->device_time.count > 1)
    draw_mono(theme, "Median", duration_text(static_cast<double>(all->device_time.median)),
              "Median device time over the selected range.");
  draw_mono(theme, "Launch call",
            compared_text(model::measure(replay, model::ReplayMeasure::LaunchCall),
                          all ? &all->launch_call : nullptr),
            "Duration of the launch call on its thread.");
  draw_mono(theme, "Launch-to-start latency",
            compared_text(model::measure(replay, model::ReplayMeasure::LaunchLatency),
                          all ? &all->launch_latency : nullptr),
            "From the launch call to the start on the device, including the time in the queue.");
  draw_mono(theme, "Launched", trace_time_text(*context.document, replay.launched), kTraceTimeHint);
  if (const ReplayViewModel* shown = shown_replay(context, replay);
      shown != nullptr && shown->times.ended > shown->times.started) {
    draw_mono(theme, "Node span",
              duration_text(static_cast<double>(shown->times.ended - shown->times.started)),
              "From the start of the first node to the end of the last.");
  }
}

}  // namespace

void ReplayPage::request_slowdown(const PanelContext& context, const trace::Replay& replay) {
  if (context.view_model == nullptr || context.view_model->key != context.graph()->key()) return;
  const ReplayViewModel* shown = shown_replay(context, replay);
  if (replay.sampled != 0 && shown == nullptr) return;  // the parts need its samples
  // A growing trace changes the medians slowly; samples are rounded to limit how often they are
  // computed.
  std::uint64_t step = 1;
  while (step * 20 < context.view_model->samples) step *= 2;
  const SlowdownKey key{context.graph()->key(), replay.replay, context.view.range,
                        context.view_model->samples / step * step};
  slowdown_.ask(key, [document = context.document, entry = *context.entry, replay,
                      range = context.view.range, medians = context.view_model->medians,
                      times = shown == nullptr ? model::replay_times(*context.graph(), {})
                                               : shown->times] {
    const model::ReplayBaseline baseline = model::replay_baseline(*document, entry, range, medians);
    return SlowdownOf{entry.graph->key(), model::slowdown(entry, baseline, replay, times)};
  });
}

void ReplayPage::draw_slowdown(PanelContext& context, const trace::Replay& replay) {
  const Theme& theme = context.theme;
  request_slowdown(context, replay);
  const auto value = slowdown_.value();
  if (value == nullptr || value->graph != context.graph()->key() ||
      value->slowdown.replay != replay.replay)
    return;
  const model::Slowdown& slowdown = value->slowdown;
  if (slowdown.parts.empty() ||
      !draw_section(theme, "vs. median", signed_text(slowdown.difference())))
    return;
  const std::size_t shown = std::min(kShownParts, slowdown.parts.size());
  for (std::size_t i = 0; i < shown; ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw_part(context, slowdown.parts[i]);
    ImGui::PopID();
  }
  double others = 0;
  for (std::size_t i = shown; i < slowdown.parts.size(); ++i) others += slowdown.parts[i].excess();
  if (shown < slowdown.parts.size()) {
    draw_sum(theme, "Other parts", others,
             "The other nodes and gaps of the measured critical path.");
  }
  draw_sum(theme, "Remainder", slowdown.remainder,
           "Sum of the parts' medians minus the median of the whole; they are from different "
           "replays.");
  draw_sum(theme, "Difference", slowdown.difference(),
           "From the launch call, or from the end of the previous replay on the queue if that is "
           "later, to the end on the device; minus its median. The sum of all lines above.");
}

void ReplayPage::draw(PanelContext& context, std::uint64_t number) {
  const Theme& theme = context.theme;
  const trace::Replay* replay = context.document->find_replay(context.graph()->key(), number);
  draw_title(theme, "replay of " + context.graph()->name(), "Replay " + count_text(number));
  if (replay == nullptr) {
    draw_note(theme, "The trace does not contain this replay.");
    return;
  }
  const auto step = [&](const char* text, std::uint64_t to) {
    if (context.document->find_replay(context.graph()->key(), to) == nullptr) return;
    if (draw_action(theme, text)) {
      context.view.replay = to;
      context.view.select(model::SelectedReplay{context.graph()->key(), to});
    }
    next_action("Show in the timeline");
  };
  step("Previous", number - 1);
  step("Next", number + 1);
  if (draw_action(theme, "Timeline", "Show in the timeline"))
    context.view.replay = number, context.view.show(View::Timeline);
  draw_times(context, *replay);
  draw_execution(context, *replay);
  draw_slowdown(context, *replay);
  if (const ReplayViewModel* shown = shown_replay(context, *replay)) {
    draw_path(context, *shown);
  } else if (replay->sampled != 0 && context.view.replay != number) {
    ImGui::Dummy({0, theme.half_space});
    if (draw_action(theme, "Show nodes", "Show this replay in all panels"))
      context.view.replay = number;
  }
}

}  // namespace reprise::viewer
