#include "panels/timeline/timeline_scene.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace reprise::viewer {

namespace {

std::uint32_t depth_of(const model::Graph& graph, std::uint32_t label) {
  std::uint32_t depth = 0;
  for (; label != 0; label = graph.record().labels[label].parent) ++depth;
  return depth;
}

// The items are sorted by start.
void add_busy_times(TimelineScene& scene) {
  scene.row_busy.resize(scene.rows.rows.size());
  for (const model::TimelineItem& item : scene.rows.items) {
    scene.row_busy[item.row].add(item.started, item.ended);
    scene.groups[scene.rows.rows[item.row].group].add(item.started, item.ended);
  }
  std::vector<model::BusyTime> groups;
  for (const auto& [id, busy] : scene.groups) groups.push_back(busy);
  scene.active = model::BusyTime::sum_of(groups.size() > 1 ? groups : scene.row_busy);
}

// Adds the label spans, using as few rows per depth as possible.
void add_labels(const model::Graph& graph, TimelineScene& scene) {
  std::vector<TimelineLabel> spans(graph.record().labels.size());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const model::NodeSpan& node = scene.times.nodes[n];
    if (!node.measured) continue;
    for (std::uint32_t label = graph.record().nodes[n].label; label != 0;
         label = graph.record().labels[label].parent) {
      TimelineLabel& span = spans[label];
      span.started = span.nodes == 0 ? node.started : std::min(span.started, node.started);
      span.ended = std::max(span.ended, node.ended);
      ++span.nodes;
    }
  }
  struct Placed {
    std::uint32_t depth = 0;
    TimelineLabel label;
  };
  std::vector<Placed> placed;
  for (std::uint32_t label = 1; label < spans.size(); ++label) {
    spans[label].label = label;
    if (spans[label].nodes != 0) placed.push_back({depth_of(graph, label), spans[label]});
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::tuple(a.depth, a.label.started, a.label.label) <
           std::tuple(b.depth, b.label.started, b.label.label);
  });
  std::vector<trace::Time> busy_until;  // end time per row of this depth
  std::uint32_t depth = 0;
  for (Placed& p : placed) {
    if (p.depth != depth) {
      scene.label_rows += static_cast<std::uint32_t>(busy_until.size());
      busy_until.clear();
      depth = p.depth;
    }
    const auto free_row = std::find_if(busy_until.begin(), busy_until.end(),
                                       [&](trace::Time t) { return t <= p.label.started; });
    p.label.row = scene.label_rows + static_cast<std::uint32_t>(free_row - busy_until.begin());
    if (free_row == busy_until.end()) {
      busy_until.push_back(p.label.ended);
    } else {
      *free_row = p.label.ended;
    }
    scene.labels.push_back(p.label);
  }
  scene.label_rows += static_cast<std::uint32_t>(busy_until.size());
  std::stable_sort(scene.labels.begin(), scene.labels.end(),
                   [](const TimelineLabel& a, const TimelineLabel& b) { return a.row < b.row; });
}

}  // namespace

TimelineScene make_timeline_scene(const model::Graph& graph, const trace::Replay& replay,
                                  model::SampleStore::Block block, model::RowsBy by) {
  TimelineScene scene;
  scene.replay = replay;
  scene.rows = model::timeline_rows(graph, *block, by);
  scene.times = model::replay_times(graph, *block);
  scene.gaps = model::gaps(graph, scene.rows, scene.times);
  scene.block = std::move(block);
  add_busy_times(scene);
  std::stable_sort(
      scene.rows.items.begin(), scene.rows.items.end(),
      [](const model::TimelineItem& a, const model::TimelineItem& b) { return a.row < b.row; });
  const std::size_t rows = scene.rows.rows.size();
  scene.row_items.assign(rows + 1, 0);
  scene.row_gaps.assign(rows + 1, 0);
  for (const model::TimelineItem& item : scene.rows.items) ++scene.row_items[item.row + 1];
  for (const model::Gap& gap : scene.gaps) ++scene.row_gaps[gap.row + 1];
  for (std::size_t r = 0; r < rows; ++r) {
    scene.row_items[r + 1] += scene.row_items[r];
    scene.row_gaps[r + 1] += scene.row_gaps[r];
  }
  scene.items_of.assign(graph.node_count(), trace::kNone);
  for (std::uint32_t i = 0; i < scene.rows.items.size(); ++i) {
    std::uint32_t& first = scene.items_of[scene.rows.items[i].node];
    if (first == trace::kNone || scene.rows.items[i].started < scene.rows.items[first].started)
      first = i;
  }
  add_labels(graph, scene);
  for (const model::NodeSpan& span : scene.times.nodes) scene.unmeasured += span.measured ? 0 : 1;
  return scene;
}

GapSums sum_of(std::span<const model::Gap> gaps) {
  GapSums sums;
  for (const model::Gap& gap : gaps) {
    const auto time = static_cast<double>(gap.ended - gap.started);
    switch (gap.kind) {
      case model::GapKind::Predecessor: sums.predecessor += time; break;
      case model::GapKind::FalseDependency: sums.false_dependency += time; break;
      case model::GapKind::LaunchBubble: sums.bubble += time; break;
    }
  }
  return sums;
}

}  // namespace reprise::viewer
