#include "model/contributions.hpp"

#include <algorithm>

#include "model/critical_path.hpp"

namespace reprise::model {

namespace {

constexpr std::size_t kMaxSteps = 40'000'000;  // nodes and edges that are visited: a few seconds
constexpr std::size_t kMinRead = 64;

std::size_t replays_to_read(const Graph& graph) {
  const std::size_t steps = graph.node_count() + graph.record().edges.size() + 1;
  return std::max(kMaxSteps / steps, kMinRead);
}

void add_replay(Contributions& sums, const Graph& graph, const trace::Replay& replay,
                const trace::SampleBlock& block) {
  const ReplayTimes times = replay_times(graph, block);
  if (times.ended == 0) return;
  ++sums.replays;
  const auto span = static_cast<double>(times.ended - times.started);
  const trace::Time device = measure(replay, ReplayMeasure::DeviceTime);
  sums.time += device < 0 ? span : static_cast<double>(device);
  sums.outside += device < 0 ? 0 : static_cast<double>(device) - span;
  for (const PathStep& step : critical_path(graph, times).steps) {
    sums.nodes[step.node] += step.wait + step.duration;
    sums.gaps[step.node] += step.wait;
    sums.on_path[step.node] += 1;
  }
}

void divide_by_count(Contributions& sums) {
  if (sums.replays == 0) return;
  const auto count = static_cast<double>(sums.replays);
  sums.time /= count;
  sums.outside /= count;
  for (std::vector<double>* values : {&sums.nodes, &sums.gaps, &sums.on_path}) {
    for (double& value : *values) value /= count;
  }
}

}  // namespace

SampledFigures sampled_figures(const Document& document, const GraphEntry& entry,
                               const ReplayRange& range) {
  const Graph& graph = *entry.graph;
  SampledFigures figures{.contributions = {}, .statistics = entry.statistics};
  Contributions& sums = figures.contributions;
  sums.nodes.resize(graph.node_count());
  sums.gaps.resize(graph.node_count());
  sums.on_path.resize(graph.node_count());
  const std::size_t max_paths = replays_to_read(graph);
  if (range == ReplayRange{}) {
    for_each_sampled(document, entry, range, max_paths,
                     [&](const trace::Replay& replay, const SampleStore::Block& block) {
                       add_replay(sums, graph, replay, *block);
                     });
  } else {
    const auto statistics = std::make_shared<GraphStatistics>(graph.node_count());
    const std::size_t sampled = count_sampled(entry.replays, range);
    std::size_t read = 0, paths = 0;
    for_each_sampled(document, entry, range, sampled,
                     [&](const trace::Replay& replay, const SampleStore::Block& block) {
                       statistics->add(graph, *block);
                       if (read++ * max_paths < paths * sampled) return;
                       ++paths;
                       add_replay(sums, graph, replay, *block);
                     });
    figures.statistics = statistics;
  }
  divide_by_count(sums);
  return figures;
}

}  // namespace reprise::model
