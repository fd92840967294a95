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

// A duration and how it compares with the usual one.
std::string against(trace::Time value, const model::ReplayStatistics* usual) {
  if (value < 0) return "unknown";
  std::string text = duration_text(static_cast<double>(value));
  if (usual != nullptr && usual->count > 1 && usual->median > 0) {
    text += "   (" +
            change_text(static_cast<double>(value) / static_cast<double>(usual->median) - 1) + ")";
  }
  return text;
}

void draw_where(const PanelContext& context, const trace::Replay& replay) {
  const Theme& theme = context.theme;
  if (!draw_section(theme, "Where it ran")) return;
  const model::Document& document = *context.document;
  const auto queue = document.queues->find(replay.queue);
  draw_value(theme, "Queue",
             queue != document.queues->end() && !queue->second.label.empty()
                 ? queue->second.label
                 : "queue " + count_text(replay.queue));
  draw_mono(theme, "Executable", count_text(replay.exec));
  const auto thread = document.thread_names->find(replay.thread);
  draw_value(theme, "Launched by",
             thread != document.thread_names->end() ? thread->second
                                                    : "thread " + count_text(replay.thread));
  const std::string how = measured_by(*context.entry, replay);
  draw_value(theme, "Node times",
             replay.sampled == 0 ? "not measured in this replay"
             : how.empty()       ? "measured"
                                 : "measured " + how);
}

const ReplayViewModel* view_model_of(const PanelContext& context, const trace::Replay& replay) {
  return context.replay != nullptr && context.replay->replay.replay == replay.replay &&
                 context.replay->block != nullptr
             ? context.replay
             : nullptr;
}

struct Excess {
  std::uint32_t node = 0;
  double took = 0, more = 0;
};

// The nodes that took longer than their median, by how much, at most ten.
std::vector<Excess> slowest(const PanelContext& context, const ReplayViewModel& view_model) {
  std::vector<Excess> all;
  for (std::uint32_t n = 0;
       n < view_model.times.nodes.size() && n < context.view_model->nodes.size(); ++n) {
    const model::NodeSpan& span = view_model.times.nodes[n];
    if (!span.measured || context.view_model->nodes[n].count == 0) continue;
    const double took = static_cast<double>(span.ended - span.started);
    if (const double more = took - context.view_model->nodes[n].median; more > 0)
      all.push_back({n, took, more});
  }
  const std::size_t count = std::min<std::size_t>(10, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const Excess& a, const Excess& b) {
                      return a.more != b.more ? a.more > b.more : a.node < b.node;
                    });
  all.resize(count);
  return all;
}

void draw_slowest(PanelContext& context, const ReplayViewModel& view_model) {
  if (context.view_model == nullptr || context.view_model->samples == 0 ||
      !draw_section(context.theme, "Slower than usual", "against the median"))
    return;
  const std::vector<Excess> nodes = slowest(context, view_model);
  if (nodes.empty()) draw_note(context.theme, "No node took longer than its median.");
  for (const Excess& e : nodes) {
    const std::string path =
        context.graph()->label_path(context.graph()->record().nodes[e.node].label);
    draw_node_link(context, e.node, "+" + duration_text(e.more),
                   "took " + duration_text(e.took) + ", median " +
                       duration_text(context.view_model->nodes[e.node].median) +
                       (path.empty() ? "" : ", " + path));
  }
}

void draw_path(PanelContext& context, const ReplayViewModel& view_model) {
  const model::CriticalPath& path = view_model.path;
  if (path.steps.empty() || !draw_section(context.theme, "Critical path, as measured",
                                          count_text(path.steps.size()) + " nodes"))
    return;
  const std::array<Tile, 3> tiles{
      {{"work", duration_text(path.work), "Time in which the nodes of the path ran."},
       {"waiting", duration_text(path.wait), "Time between them."},
       {"together", duration_text(path.work + path.wait),
        "From the replay's first node to the end of its last."}}};
  draw_tiles(context.theme, tiles);
  draw_list(context.theme, "path", path.steps.size(), ListRow::TwoLines, [&](std::size_t i) {
    const model::PathStep& step = path.steps[i];
    std::string why =
        step.edge == trace::kNone ? "first" : edge_reason(*context.graph(), step.edge);
    if (step.wait > 0)
      why = "waited " + duration_text(step.wait) + (step.edge == trace::kNone ? "" : ", " + why);
    draw_node_link(context, step.node, duration_text(step.duration), why);
  });
}

}  // namespace

void ReplayPage::draw_times(const PanelContext& context, const trace::Replay& replay) {
  const Theme& theme = context.theme;
  // Sorting a million replays takes a while, and 1 % more of them change no median.
  const auto& replays = context.entry->replays;
  std::size_t step = 1;
  while (step * 100 < replays.size()) step *= 2;
  const std::size_t known = replays.size() / step * step;
  const Key key{context.graph()->key(), context.view.has_range() ? context.view.range.first : 0,
                context.view.has_range() ? context.view.range.count : known};
  statistics_.ask(key, [replays, key] {
    const model::ReplayRange range{key.first, key.count};
    return Usual{key.graph,
                 model::replay_statistics(replays, model::ReplayMeasure::DeviceTime, range),
                 model::replay_statistics(replays, model::ReplayMeasure::LaunchCall, range),
                 model::replay_statistics(replays, model::ReplayMeasure::Latency, range)};
  });
  auto usual = statistics_.value();
  if (usual && usual->graph != key.graph) usual = nullptr;
  if (!draw_section(theme, "Time", "against the median")) return;
  draw_mono(theme, "On the device",
            against(model::measure(replay, model::ReplayMeasure::DeviceTime),
                    usual ? &usual->device : nullptr),
            "From its start to its end on the device.");
  if (usual && usual->device.count > 1)
    draw_mono(theme, "Median", duration_text(static_cast<double>(usual->device.median)),
              "Of the replays of the chosen range, on the device.");
  draw_mono(theme, "Launch call",
            against(model::measure(replay, model::ReplayMeasure::LaunchCall),
                    usual ? &usual->call : nullptr),
            "How long the call of launch took on its thread.");
  draw_mono(theme, "Latency",
            against(model::measure(replay, model::ReplayMeasure::Latency),
                    usual ? &usual->latency : nullptr),
            "From the call of launch to the start on the device.");
  draw_mono(theme, "Launched", moment_text(*context.document, replay.launched),
            "From the first moment of the trace.");
  if (const ReplayViewModel* view_model = view_model_of(context, replay);
      view_model != nullptr && view_model->times.ended > view_model->times.began) {
    draw_mono(theme, "Its nodes",
              duration_text(static_cast<double>(view_model->times.ended - view_model->times.began)),
              "From the start of its first node to the end of its last.");
  }
}

void ReplayPage::draw(PanelContext& context, std::uint64_t number) {
  const Theme& theme = context.theme;
  const trace::Replay* replay = context.document->find_replay(context.graph()->key(), number);
  draw_title(theme, "replay of " + context.graph()->name(), "Replay " + count_text(number));
  if (replay == nullptr) {
    draw_note(theme, "The trace does not have this replay.");
    return;
  }
  const auto step = [&](const char* text, std::uint64_t to) {
    if (context.document->find_replay(context.graph()->key(), to) == nullptr) return;
    if (draw_action(theme, text)) {
      context.view.replay = to;
      context.view.select(model::SelectedReplay{context.graph()->key(), to});
    }
    next_action("Show it in the timeline");
  };
  step("Before", number - 1);
  step("After", number + 1);
  if (draw_action(theme, "Timeline", "Show it in the timeline"))
    context.view.replay = number, context.view.upper = UpperTab::Timeline;
  draw_times(context, *replay);
  draw_where(context, *replay);
  if (const ReplayViewModel* view_model = view_model_of(context, *replay)) {
    draw_slowest(context, *view_model);
    draw_path(context, *view_model);
  } else if (replay->sampled != 0 && context.view.replay != number) {
    ImGui::Dummy({0, theme.half_space});
    if (draw_action(theme, "Show its nodes", "In the timeline, the memory panel and here"))
      context.view.replay = number;
  }
}

}  // namespace reprise::viewer
