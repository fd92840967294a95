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

}  // namespace

Contributions contributions(const Document& document, const GraphEntry& entry,
                            const ReplayRange& range) {
  const Graph& graph = *entry.graph;
  Contributions c;
  c.nodes.resize(graph.node_count());
  c.gaps.resize(graph.node_count());
  for_each_sampled(document, entry, range, replays_to_read(graph),
                   [&](const trace::Replay& replay, const SampleStore::Block& block) {
                     const ReplayTimes times = replay_times(graph, *block);
                     if (times.ended == 0) return;
                     ++c.replays;
                     const auto span = static_cast<double>(times.ended - times.started);
                     const trace::Time device = measure(replay, ReplayMeasure::DeviceTime);
                     c.time += device < 0 ? span : static_cast<double>(device);
                     c.outside += device < 0 ? 0 : static_cast<double>(device) - span;
                     for (const PathStep& step : critical_path(graph, times).steps) {
                       c.nodes[step.node] += step.wait + step.duration;
                       c.gaps[step.node] += step.wait;
                     }
                   });
  if (c.replays == 0) return c;
  const auto count = static_cast<double>(c.replays);
  c.time /= count;
  c.outside /= count;
  for (std::vector<double>* values : {&c.nodes, &c.gaps}) {
    for (double& value : *values) value /= count;
  }
  return c;
}

}  // namespace reprise::model
