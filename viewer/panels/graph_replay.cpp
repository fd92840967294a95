#include "panels/graph_replay.hpp"

#include <algorithm>

namespace reprise::viewer {

GraphFacts facts_of_replay(const model::Graph& graph, const ReplayFacts& replay) {
  GraphFacts facts;
  facts.key = graph.key();
  facts.nodes.resize(graph.node_count());
  facts.medians = model::durations(replay.times);
  facts.medians.resize(graph.node_count(), 0);
  facts.path = replay.path;
  const model::LongestPaths paths = model::longest_paths(graph, facts.medians);
  double sum = 0;
  for (std::uint32_t n = 0; n < graph.own_node_count(); ++n) sum += facts.medians[n];  // what nodes run is in their time
  for (std::uint32_t n = 0; n < graph.node_count() && n < replay.times.nodes.size(); ++n) {
    if (!replay.times.nodes[n].measured) continue;
    GraphFacts::Node& node = facts.nodes[n];
    const double duration = facts.medians[n];
    node.count = 1;
    node.median = node.p10 = node.p90 = node.p99 = node.mean = node.least = node.greatest = duration;
    node.share = sum > 0 ? duration / sum : 0;
    node.slack = std::max(0.0, paths.slack(graph.own_node_of(n), facts.medians));
    const bool first = facts.samples++ == 0;
    facts.least = first ? duration : std::min(facts.least, duration);
    facts.greatest = std::max(facts.greatest, duration);
    facts.greatest_share = std::max(facts.greatest_share, node.share);
    facts.greatest_slack = std::max(facts.greatest_slack, node.slack);
  }
  facts.least_p99 = facts.least;
  facts.greatest_p99 = facts.greatest;
  for (const model::PathStep& step : facts.path.steps) {
    if (step.node < facts.nodes.size()) facts.nodes[step.node].is_critical = true;
  }
  return facts;
}

}  // namespace reprise::viewer
