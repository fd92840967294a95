#include "panels/compare/compare_result.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantile_rank.hpp"
#include "model/graph_comparison.hpp"
#include "model/significance.hpp"

namespace reprise::viewer {

namespace {

struct NodeTimes {
  double median = 0;           // ns
  std::uint64_t samples = 0;   // samples with a time
  double runs_per_replay = 0;  // including runs whose sample was lost
  [[nodiscard]] double effect() const noexcept { return median * runs_per_replay; }
};

std::vector<NodeTimes> times_of(const model::Graph& graph,
                                const std::vector<model::SampleStore::Block>& blocks) {
  std::vector<std::vector<std::uint32_t>> durations(graph.node_count());
  std::vector<NodeTimes> times(graph.node_count());
  for (const auto& block : blocks) {
    for (const trace::Sample& sample : block->samples) {
      if (sample.node >= times.size()) continue;
      times[sample.node].runs_per_replay += 1 / static_cast<double>(blocks.size());
      if (sample.started != 0) durations[sample.node].push_back(sample.duration);
    }
  }
  for (std::size_t n = 0; n < durations.size(); ++n) {
    if (durations[n].empty()) continue;
    times[n].median = static_cast<double>(detail::quantile_of(durations[n], 0.5));
    times[n].samples = durations[n].size();
  }
  return times;
}

detail::DurationHistogram replay_times(const model::GraphEntry& entry, model::ReplayRange range,
                                       model::ReplayMeasure measure) {
  detail::DurationHistogram times;
  const std::size_t first = std::min(range.first, entry.replays.size());
  const std::size_t end = first + std::min(range.count, entry.replays.size() - first);
  for (std::size_t i = first; i < end; ++i) {
    if (!admits(range, entry.replays[i])) continue;
    if (const trace::Time value = model::measure(entry.replays[i], measure); value >= 0)
      times.add(value);
  }
  return times;
}

ComparedTimes compare_replays(const model::GraphEntry& a, model::ReplayRange in_a,
                              const model::GraphEntry& b, model::ReplayRange in_b,
                              model::ReplayMeasure measure) {
  const detail::DurationHistogram times_a = replay_times(a, in_a, measure),
                                  times_b = replay_times(b, in_b, measure);
  ComparedTimes result{static_cast<std::size_t>(times_a.count()),
                       static_cast<std::size_t>(times_b.count()), times_a.quantile(0.5),
                       times_b.quantile(0.5)};
  if (result.median_a > 0 && result.count_b != 0)
    result.change = result.median_b / result.median_a - 1;
  result.p = model::compare(times_a, times_b).p;
  result.is_significant = result.p < model::kSignificanceLevel;
  return result;
}

Verdict verdict_of(const model::NodeComparison& node) {
  if (node.count_a == 0 || node.count_b == 0) return Verdict::Unmeasured;
  if (node.count_a < model::kMinSamples || node.count_b < model::kMinSamples)
    return Verdict::TooFewSamples;
  if (!node.is_significant || node.median_a == node.median_b) return Verdict::Same;
  return node.median_b > node.median_a ? Verdict::Slower : Verdict::Faster;
}

}  // namespace

CompareResult compare_sides(const CompareSide& a, const CompareSide& b) {
  CompareResult result;
  const model::GraphEntry *entry_a = a.document->find(a.graph),
                          *entry_b = b.document->find(b.graph);
  if (entry_a == nullptr || entry_b == nullptr) return result;
  result.graph_a = entry_a->graph;
  result.graph_b = entry_b->graph;
  result.device_time =
      compare_replays(*entry_a, a.range, *entry_b, b.range, model::ReplayMeasure::DeviceTime);
  result.launch_call =
      compare_replays(*entry_a, a.range, *entry_b, b.range, model::ReplayMeasure::LaunchCall);
  const auto blocks_a = model::blocks_of(*a.document, a.graph, a.range, kComparedReplays);
  const auto blocks_b = model::blocks_of(*b.document, b.graph, b.range, kComparedReplays);
  result.sampled_a = blocks_a.size();
  result.sampled_b = blocks_b.size();
  const model::GraphComparison comparison =
      model::compare({*entry_a->graph, blocks_a}, {*entry_b->graph, blocks_b});
  const std::vector<NodeTimes> times_a = times_of(*entry_a->graph, blocks_a),
                               times_b = times_of(*entry_b->graph, blocks_b);
  for (const model::NodeComparison& node : comparison.nodes) {
    const NodeTimes &in_a = times_a[node.a], &in_b = times_b[node.b];
    const double change = in_a.median > 0 && in_b.samples != 0 ? in_b.median / in_a.median - 1 : 0;
    const double effect =
        in_a.samples != 0 && in_b.samples != 0 ? in_b.effect() - in_a.effect() : 0;
    result.nodes.push_back({verdict_of(node), node.a, node.b, in_a.samples, in_b.samples,
                            in_a.median, in_b.median, change, node.p, effect});
    result.slower += result.nodes.back().verdict == Verdict::Slower ? 1 : 0;
    result.faster += result.nodes.back().verdict == Verdict::Faster ? 1 : 0;
  }
  for (const std::uint32_t n : comparison.added) {
    result.nodes.push_back({Verdict::Added, trace::kNone, n, 0, times_b[n].samples, 0,
                            times_b[n].median, 0, 1, times_b[n].effect()});
  }
  for (const std::uint32_t n : comparison.removed) {
    result.nodes.push_back({Verdict::Removed, n, trace::kNone, times_a[n].samples, 0,
                            times_a[n].median, 0, 0, 1, -times_a[n].effect()});
  }
  result.added = comparison.added.size();
  result.removed = comparison.removed.size();
  std::stable_sort(result.nodes.begin(), result.nodes.end(),
                   [](const ComparedNode& x, const ComparedNode& y) {
                     return std::abs(x.effect) > std::abs(y.effect);
                   });
  return result;
}

}  // namespace reprise::viewer
