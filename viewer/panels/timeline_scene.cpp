#include "panels/timeline_scene.hpp"

#include <algorithm>
#include <utility>

namespace reprise::viewer {

TimelineScene make_timeline_scene(const model::Graph& graph, const trace::Replay& replay, model::SampleStore::Block block, model::RowsBy by) {
  TimelineScene scene;
  scene.replay = replay;
  scene.rows = model::timeline_rows(graph, *block, by);
  scene.times = model::replay_times(graph, *block);
  scene.gaps = model::gaps(graph, scene.rows, scene.times);
  scene.block = std::move(block);
  std::stable_sort(scene.rows.items.begin(), scene.rows.items.end(),
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
    if (first == trace::kNone || scene.rows.items[i].started < scene.rows.items[first].started) first = i;
  }
  for (const model::NodeSpan& span : scene.times.nodes) scene.unmeasured += span.measured ? 0 : 1;
  return scene;
}

GapSums sum_of(std::span<const model::Gap> gaps) {
  GapSums sums;
  for (const model::Gap& gap : gaps) {
    const auto time = static_cast<double>(gap.ended - gap.began);
    switch (gap.kind) {
      case model::GapKind::Predecessor: sums.predecessor += time; break;
      case model::GapKind::FalseDependency: sums.false_dependency += time; break;
      case model::GapKind::LaunchBubble: sums.bubble += time; break;
    }
  }
  return sums;
}

}  // namespace reprise::viewer
