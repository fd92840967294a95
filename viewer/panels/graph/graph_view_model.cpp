#include "panels/graph/graph_view_model.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/node_shares.hpp"
#include "model/sampled_replays.hpp"

namespace reprise::viewer {

namespace {

// Number of sampled replays, newest first, that are checked for samples still in the store.
constexpr std::size_t kMaxTries = 16;
constexpr trace::Time kSecond = 1'000'000'000;

void set_bounds(const model::Graph& graph, GraphViewModel& view_model) {
  for (const trace::Body& body : graph.record().bodies)
    view_model.nodes[body.parent].runs_bodies = true;
  bool any = false;
  for (const GraphViewModel::Node& node : view_model.nodes) {
    if (node.count == 0 || node.runs_bodies) continue;
    view_model.min = any ? std::min(view_model.min, node.median) : node.median;
    view_model.min_p99 = any ? std::min(view_model.min_p99, node.p99) : node.p99;
    view_model.max = std::max(view_model.max, node.median);
    view_model.max_p99 = std::max(view_model.max_p99, node.p99);
    view_model.max_share = std::max(view_model.max_share, node.share);
    view_model.max_slack = std::max(view_model.max_slack, node.slack);
    any = true;
  }
}

}  // namespace

GraphViewModel make_graph_view_model(const model::Document& document,
                                     const model::GraphEntry& entry, model::ReplayRange range) {
  GraphViewModel view_model;
  view_model.key = entry.graph->key();
  view_model.revision = document.revision;
  view_model.statistics = model::statistics_of(document, entry, range);
  view_model.read_replays = view_model.statistics->replays;
  view_model.sampled_replays = model::count_sampled(entry.replays, range);
  for (const model::NodeFigures& figures :
       model::node_figures(*entry.graph, *view_model.statistics)) {
    view_model.nodes.push_back({figures});
    view_model.medians.push_back(figures.median);
    view_model.samples += figures.count;
  }
  if (view_model.samples == 0) return view_model;
  const model::LongestPaths paths = model::longest_paths(*entry.graph, view_model.medians);
  for (std::uint32_t n = 0; n < entry.graph->node_count(); ++n) {
    view_model.nodes[n].slack =
        std::max(0.0, paths.slack(entry.graph->own_node_of(n), view_model.medians));
  }
  view_model.path = model::critical_path(*entry.graph, view_model.medians);
  for (const model::PathStep& step : view_model.path.steps)
    view_model.nodes[step.node].is_critical = true;
  set_bounds(*entry.graph, view_model);
  return view_model;
}

GraphViewModel view_model_of_replay(const model::Graph& graph, const ReplayViewModel& replay) {
  GraphViewModel view_model;
  view_model.key = graph.key();
  view_model.nodes.resize(graph.node_count());
  view_model.medians = model::durations(replay.times);
  view_model.medians.resize(graph.node_count(), 0);
  view_model.path = replay.path;
  const model::LongestPaths paths = model::longest_paths(graph, view_model.medians);
  const std::vector<double> shares =
      model::node_shares(view_model.medians, [&](std::uint32_t n) { return graph.parent(n); });
  for (std::uint32_t n = 0; n < graph.node_count() && n < replay.times.nodes.size(); ++n) {
    if (!replay.times.nodes[n].measured) continue;
    GraphViewModel::Node& node = view_model.nodes[n];
    const double duration = view_model.medians[n];
    node.count = 1;
    node.median = node.p10 = node.p90 = node.p99 = node.mean = node.min = node.max = duration;
    node.share = shares[n];
    node.slack = std::max(0.0, paths.slack(graph.own_node_of(n), view_model.medians));
    ++view_model.samples;
  }
  set_bounds(graph, view_model);
  for (const model::PathStep& step : view_model.path.steps) {
    if (step.node < view_model.nodes.size()) view_model.nodes[step.node].is_critical = true;
  }
  return view_model;
}

std::optional<ReplayViewModel> make_replay_view_model(const model::Document& document,
                                                      const model::GraphEntry& entry,
                                                      std::optional<std::uint64_t> replay,
                                                      const model::ReplayRange& range) {
  const model::Graph& graph = *entry.graph;
  ReplayViewModel view_model;
  if (replay) {
    const trace::Replay* const found = document.find_replay(graph.key(), *replay);
    if (found == nullptr) return std::nullopt;
    view_model.replay = *found;
    if (found->sampled != 0) view_model.block = document.samples->find(*found);
  } else {
    if (entry.replays.empty()) return std::nullopt;
    const std::size_t first = std::min(range.first, entry.replays.size() - 1);
    const std::size_t end = first + std::min(range.count, entry.replays.size() - first);
    view_model.replay = entry.replays[end - 1];
    std::size_t tries = 0;
    for (std::size_t at = end; at-- > first && tries < kMaxTries;) {
      const trace::Replay& one = entry.replays[at];
      if (one.sampled == 0 || !admits(range, one)) continue;
      ++tries;
      if ((view_model.block = document.samples->find(one))) {
        view_model.replay = one;
        break;
      }
    }
  }
  view_model.times =
      model::replay_times(graph, view_model.block ? *view_model.block : trace::SampleBlock{});
  if (view_model.block) view_model.path = model::critical_path(graph, view_model.times);
  return view_model;
}

ReplaySummary make_replay_summary(const model::GraphEntry& entry, model::ReplayRange range,
                                  RateOver rate) {
  ReplaySummary figures;
  const auto statistics = [&](model::ReplayMeasure what) {
    return model::replay_statistics(entry.replays, what, range);
  };
  figures.device_time = statistics(model::ReplayMeasure::DeviceTime);
  figures.launch_call = statistics(model::ReplayMeasure::LaunchCall);
  figures.launch_latency = statistics(model::ReplayMeasure::LaunchLatency);
  figures.replays = figures.device_time.count + figures.device_time.unknown;
  figures.sampled = model::count_sampled(entry.replays, range);
  figures.rate = rate;
  if (figures.replays < 2 || range.durations) return figures;
  const std::size_t first = std::min(range.first, entry.replays.size());
  const std::size_t end = first + std::min(range.count, entry.replays.size() - first);
  const trace::Time last = entry.replays[end - 1].launched;
  std::size_t from = first;
  if (rate == RateOver::LastSecond) {
    from = entry.replays.lower_bound(
        last - kSecond, [](const trace::Replay& r, trace::Time t) { return r.launched < t; });
    from = std::min(std::max(from, first), end - 2);
  }
  const trace::Time taken = last - entry.replays[from].launched;
  if (taken > 0)
    figures.per_second = static_cast<double>(end - 1 - from) * static_cast<double>(kSecond) /
                         static_cast<double>(taken);
  return figures;
}

}  // namespace reprise::viewer
