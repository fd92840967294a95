#include "panels/inspector_replay.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "panels/format.hpp"
#include "panels/inspector_parts.hpp"
#include "panels/profile_text.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

namespace {

// A duration and how it compares with the usual one.
std::string against(trace::Time value, const model::ReplayStatistics* usual) {
  if (value < 0) return "unknown";
  std::string text = duration_text(static_cast<double>(value));
  if (usual != nullptr && usual->count > 1 && usual->median > 0) {
    text += "   (" + change_text(static_cast<double>(value) / static_cast<double>(usual->median) - 1) + ")";
  }
  return text;
}

void draw_where(const Frame& frame, const trace::Replay& replay) {
  const Theme& theme = frame.theme;
  if (!draw_section(theme, "Where it ran")) return;
  const model::Document& document = *frame.document;
  const auto queue = document.queues->find(replay.queue);
  draw_value(theme, "Queue",
             queue != document.queues->end() && !queue->second.label.empty() ? queue->second.label : "queue " + count_text(replay.queue));
  draw_mono(theme, "Executable", count_text(replay.exec));
  const auto thread = document.thread_names->find(replay.thread);
  draw_value(theme, "Launched by", thread != document.thread_names->end() ? thread->second : "thread " + count_text(replay.thread));
  const std::string how = measured_by(*frame.entry, replay);
  draw_value(theme, "Node times", replay.sampled == 0 ? "not measured in this replay" : how.empty() ? "measured" : "measured " + how);
}

const ReplayFacts* facts_of(const Frame& frame, const trace::Replay& replay) {
  return frame.replay != nullptr && frame.replay->replay.replay == replay.replay && frame.replay->block != nullptr ? frame.replay : nullptr;
}

struct Excess {
  std::uint32_t node = 0;
  double took = 0, more = 0;
};

// The nodes that took longer than their median, by how much, at most ten.
std::vector<Excess> slowest(const Frame& frame, const ReplayFacts& facts) {
  std::vector<Excess> all;
  for (std::uint32_t n = 0; n < facts.times.nodes.size() && n < frame.facts->nodes.size(); ++n) {
    const model::NodeSpan& span = facts.times.nodes[n];
    if (!span.measured || frame.facts->nodes[n].count == 0) continue;
    const double took = static_cast<double>(span.ended - span.started);
    if (const double more = took - frame.facts->nodes[n].median; more > 0) all.push_back({n, took, more});
  }
  const std::size_t count = std::min<std::size_t>(10, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const Excess& a, const Excess& b) { return a.more != b.more ? a.more > b.more : a.node < b.node; });
  all.resize(count);
  return all;
}

void draw_slowest(Frame& frame, const ReplayFacts& facts) {
  if (frame.facts == nullptr || frame.facts->samples == 0 || !draw_section(frame.theme, "Slower than usual", "against the median")) return;
  const std::vector<Excess> nodes = slowest(frame, facts);
  if (nodes.empty()) draw_note(frame.theme, "No node took longer than its median.");
  for (const Excess& e : nodes) {
    const std::string path = frame.graph()->label_path(frame.graph()->record().nodes[e.node].label);
    draw_node_link(
        frame, e.node, "+" + duration_text(e.more),
        "took " + duration_text(e.took) + ", median " + duration_text(frame.facts->nodes[e.node].median) + (path.empty() ? "" : ", " + path));
  }
}

void draw_path(Frame& frame, const ReplayFacts& facts) {
  const model::CriticalPath& path = facts.path;
  if (path.steps.empty() || !draw_section(frame.theme, "Critical path, as measured", count_text(path.steps.size()) + " nodes")) return;
  const std::array<Tile, 3> tiles{{{"work", duration_text(path.work), "Time in which the nodes of the path ran."},
                                   {"waiting", duration_text(path.wait), "Time between them."},
                                   {"together", duration_text(path.work + path.wait), "From the replay's first node to the end of its last."}}};
  draw_tiles(frame.theme, tiles);
  draw_list(frame.theme, "path", path.steps.size(), ListRow::TwoLines, [&](std::size_t i) {
    const model::PathStep& step = path.steps[i];
    std::string why = step.edge == trace::kNone ? "first" : edge_reason(*frame.graph(), step.edge);
    if (step.wait > 0) why = "waited " + duration_text(step.wait) + (step.edge == trace::kNone ? "" : ", " + why);
    draw_node_link(frame, step.node, duration_text(step.duration), why);
  });
}

}  // namespace

void ReplayPage::draw_times(const Frame& frame, const trace::Replay& replay) {
  const Theme& theme = frame.theme;
  // Sorting a million replays takes a while, and 1 % more of them change no median.
  const auto& replays = frame.entry->replays;
  std::size_t step = 1;
  while (step * 100 < replays.size()) step *= 2;
  const std::size_t known = replays.size() / step * step;
  const Key key{frame.graph()->key(), frame.view.has_range() ? frame.view.range.first : 0, frame.view.has_range() ? frame.view.range.count : known};
  statistics_.ask(key, [replays, key] {
    const model::ReplayRange range{key.first, key.count};
    return Usual{key.graph, model::replay_statistics(replays, model::ReplayMeasure::DeviceTime, range, 1),
                 model::replay_statistics(replays, model::ReplayMeasure::LaunchCall, range, 1),
                 model::replay_statistics(replays, model::ReplayMeasure::Latency, range, 1)};
  });
  auto usual = statistics_.value();
  if (usual && usual->graph != key.graph) usual = nullptr;
  if (!draw_section(theme, "Time", "against the median")) return;
  draw_mono(theme, "On the device", against(model::measure(replay, model::ReplayMeasure::DeviceTime), usual ? &usual->device : nullptr),
            "From its start to its end on the device.");
  if (usual && usual->device.count > 1)
    draw_mono(theme, "Median", duration_text(static_cast<double>(usual->device.median)), "Of the replays of the chosen range, on the device.");
  draw_mono(theme, "Launch call", against(model::measure(replay, model::ReplayMeasure::LaunchCall), usual ? &usual->call : nullptr),
            "How long the call of launch took on its thread.");
  draw_mono(theme, "Latency", against(model::measure(replay, model::ReplayMeasure::Latency), usual ? &usual->latency : nullptr),
            "From the call of launch to the start on the device.");
  draw_mono(theme, "Launched", moment_text(*frame.document, replay.launched), "From the first moment of the trace.");
  if (const ReplayFacts* facts = facts_of(frame, replay); facts != nullptr && facts->times.ended > facts->times.began) {
    draw_mono(theme, "Its nodes", duration_text(static_cast<double>(facts->times.ended - facts->times.began)),
              "From the start of its first node to the end of its last.");
  }
}

void ReplayPage::draw(Frame& frame, std::uint64_t number) {
  const Theme& theme = frame.theme;
  const trace::Replay* replay = frame.document->find_replay(frame.graph()->key(), number);
  draw_title(theme, "replay of " + frame.graph()->name(), "Replay " + count_text(number));
  if (replay == nullptr) {
    draw_note(theme, "The trace does not have this replay.");
    return;
  }
  const auto step = [&](const char* text, std::uint64_t to) {
    if (frame.document->find_replay(frame.graph()->key(), to) == nullptr) return;
    if (draw_action(theme, text)) {
      frame.view.replay = to;
      frame.view.select(model::SelectedReplay{frame.graph()->key(), to});
    }
    next_action("Show it in the timeline");
  };
  step("Before", number - 1);
  step("After", number + 1);
  if (draw_action(theme, "Timeline", "Show it in the timeline")) frame.view.replay = number, frame.view.upper = UpperTab::Timeline;
  draw_times(frame, *replay);
  draw_where(frame, *replay);
  if (const ReplayFacts* facts = facts_of(frame, *replay)) {
    draw_slowest(frame, *facts);
    draw_path(frame, *facts);
  } else if (replay->sampled != 0 && frame.view.replay != number) {
    ImGui::Dummy({0, theme.half_space});
    if (draw_action(theme, "Show its nodes", "In the timeline, the memory panel and here")) frame.view.replay = number;
  }
}

}  // namespace reprise::viewer
