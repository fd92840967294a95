#include "panels/inspector/inspector_replay.hpp"

#include <algorithm>
#include <array>
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
  const auto queue = document.queues->find(replay.queue);
  draw_value(theme, "Queue",
             queue != document.queues->end() && !queue->second.label.empty()
                 ? queue->second.label
                 : "queue " + count_text(replay.queue));
  draw_mono(theme, "Executable", count_text(replay.exec));
  const auto thread = document.thread_names->find(replay.thread);
  draw_value(theme, "Launch thread",
             thread != document.thread_names->end() ? thread->second
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

struct Excess {
  std::uint32_t node = 0;
  double duration = 0, excess = 0;  // ns; excess: above the median
};

// The nodes that exceed their median the most, in descending order, at most ten.
std::vector<Excess> slowest(const PanelContext& context, const ReplayViewModel& shown) {
  std::vector<Excess> all;
  for (std::uint32_t n = 0; n < shown.times.nodes.size() && n < context.view_model->nodes.size();
       ++n) {
    const model::NodeSpan& span = shown.times.nodes[n];
    if (!span.measured || context.view_model->nodes[n].count == 0) continue;
    const double duration = static_cast<double>(span.ended - span.started);
    if (const double excess = duration - context.view_model->nodes[n].median; excess > 0)
      all.push_back({n, duration, excess});
  }
  const std::size_t count = std::min<std::size_t>(10, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const Excess& a, const Excess& b) {
                      return a.excess != b.excess ? a.excess > b.excess : a.node < b.node;
                    });
  all.resize(count);
  return all;
}

void draw_slowest(PanelContext& context, const ReplayViewModel& shown) {
  if (context.view_model == nullptr || context.view_model->samples == 0 ||
      !draw_section(context.theme, "Slower than median"))
    return;
  const std::vector<Excess> nodes = slowest(context, shown);
  if (nodes.empty()) draw_note(context.theme, "No node exceeds its median.");
  for (const Excess& e : nodes) {
    const std::string path =
        context.graph()->label_path(context.graph()->record().nodes[e.node].label);
    draw_node_link(context, e.node, "+" + duration_text(e.excess),
                   duration_text(e.duration) + ", median " +
                       duration_text(context.view_model->nodes[e.node].median) +
                       (path.empty() ? "" : ", " + path));
  }
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

}  // namespace

void ReplayPage::draw_times(const PanelContext& context, const trace::Replay& replay) {
  const Theme& theme = context.theme;
  // Rounds the count down to a step of about 1 % of a growing list, to limit how often it is
  // sorted.
  const auto& replays = context.entry->replays;
  std::size_t step = 1;
  while (step * 100 < replays.size()) step *= 2;
  const std::size_t rounded = replays.size() / step * step;
  const Key key{context.graph()->key(), context.view.has_range() ? context.view.range.first : 0,
                context.view.has_range() ? context.view.range.count : rounded};
  statistics_.ask(key, [replays, key] {
    const model::ReplayRange range{key.first, key.count};
    return Statistics{key.graph,
                      model::replay_statistics(replays, model::ReplayMeasure::DeviceTime, range),
                      model::replay_statistics(replays, model::ReplayMeasure::LaunchCall, range),
                      model::replay_statistics(replays, model::ReplayMeasure::Latency, range)};
  });
  auto statistics = statistics_.value();
  if (statistics && statistics->graph != key.graph) statistics = nullptr;
  if (!draw_section(theme, "Time", "relative to the median")) return;
  draw_mono(theme, "Device time",
            compared_text(model::measure(replay, model::ReplayMeasure::DeviceTime),
                          statistics ? &statistics->device : nullptr),
            "From start to end on the device.");
  if (statistics && statistics->device.count > 1)
    draw_mono(theme, "Median", duration_text(static_cast<double>(statistics->device.median)),
              "Median device time over the selected range.");
  draw_mono(theme, "Launch call",
            compared_text(model::measure(replay, model::ReplayMeasure::LaunchCall),
                          statistics ? &statistics->call : nullptr),
            "Duration of the launch call on its thread.");
  draw_mono(theme, "Latency",
            compared_text(model::measure(replay, model::ReplayMeasure::Latency),
                          statistics ? &statistics->latency : nullptr),
            "From the launch call to the start on the device.");
  draw_mono(theme, "Launched", trace_time_text(*context.document, replay.launched), kTraceTimeHint);
  if (const ReplayViewModel* shown = shown_replay(context, replay);
      shown != nullptr && shown->times.ended > shown->times.started) {
    draw_mono(theme, "Node span",
              duration_text(static_cast<double>(shown->times.ended - shown->times.started)),
              "From the start of the first node to the end of the last.");
  }
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
    context.view.replay = number, context.view.upper = UpperTab::Timeline;
  draw_times(context, *replay);
  draw_execution(context, *replay);
  if (const ReplayViewModel* shown = shown_replay(context, *replay)) {
    draw_slowest(context, *shown);
    draw_path(context, *shown);
  } else if (replay->sampled != 0 && context.view.replay != number) {
    ImGui::Dummy({0, theme.half_space});
    if (draw_action(theme, "Show nodes", "Show this replay in all panels"))
      context.view.replay = number;
  }
}

}  // namespace reprise::viewer
