#include "panels/graph/graph_replay.hpp"

#include <algorithm>

namespace reprise::viewer {

GraphViewModel view_model_of_replay(const model::Graph& graph, const ReplayViewModel& replay) {
  GraphViewModel view_model;
  view_model.key = graph.key();
  view_model.nodes.resize(graph.node_count());
  view_model.medians = model::durations(replay.times);
  view_model.medians.resize(graph.node_count(), 0);
  view_model.path = replay.path;
  const model::LongestPaths paths = model::longest_paths(graph, view_model.medians);
  double sum = 0;
  for (std::uint32_t n = 0; n < graph.own_node_count(); ++n)
    sum += view_model.medians[n];  // what nodes run is in their time
  for (std::uint32_t n = 0; n < graph.node_count() && n < replay.times.nodes.size(); ++n) {
    if (!replay.times.nodes[n].measured) continue;
    GraphViewModel::Node& node = view_model.nodes[n];
    const double duration = view_model.medians[n];
    node.count = 1;
    node.median = node.p10 = node.p90 = node.p99 = node.mean = node.least = node.greatest =
        duration;
    node.share = sum > 0 ? duration / sum : 0;
    node.slack = std::max(0.0, paths.slack(graph.own_node_of(n), view_model.medians));
    const bool first = view_model.samples++ == 0;
    view_model.least = first ? duration : std::min(view_model.least, duration);
    view_model.greatest = std::max(view_model.greatest, duration);
    view_model.greatest_share = std::max(view_model.greatest_share, node.share);
    view_model.greatest_slack = std::max(view_model.greatest_slack, node.slack);
  }
  view_model.least_p99 = view_model.least;
  view_model.greatest_p99 = view_model.greatest;
  for (const model::PathStep& step : view_model.path.steps) {
    if (step.node < view_model.nodes.size()) view_model.nodes[step.node].is_critical = true;
  }
  return view_model;
}

}  // namespace reprise::viewer
