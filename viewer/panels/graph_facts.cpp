#include "panels/graph_facts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/graph_comparison.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMostTries = 16;  // sampled replays that are looked at, from the newest, for one whose samples are still there
constexpr trace::Time kSecond = 1'000'000'000;

bool covers_all_replays(model::ReplayRange range) { return model::ReplayRange{}.first == range.first && model::ReplayRange{}.count == range.count; }

std::vector<model::NodeStatistics> statistics_of(const model::Document& document, const model::GraphEntry& entry, model::ReplayRange range) {
  std::vector<model::NodeStatistics> nodes(entry.graph->node_count());
  for (const auto& block : model::blocks_of(document, entry.graph->key(), range, kMostBlocks)) {
    for (const trace::Sample& sample : block->samples) {
      if (sample.node >= nodes.size()) continue;
      if (sample.started == 0) {
        ++nodes[sample.node].lost;
      } else {
        nodes[sample.node].times.add(sample.duration);
      }
    }
  }
  return nodes;
}

GraphFacts::Node node_of(const model::NodeStatistics& statistics) {
  GraphFacts::Node node;
  const model::TimeHistogram& times = statistics.times;
  node.count = times.count();
  node.lost = statistics.lost;
  if (node.count == 0) return node;
  node.median = times.median();
  node.p10 = times.quantile(0.1);
  node.p90 = times.quantile(0.9);
  node.p99 = times.quantile(0.99);
  node.mean = times.mean();
  node.least = static_cast<double>(times.least());
  node.greatest = static_cast<double>(times.greatest());
  return node;
}

void set_extremes(GraphFacts& facts) {
  bool any = false;
  for (const GraphFacts::Node& node : facts.nodes) {
    if (node.count == 0) continue;
    facts.least = any ? std::min(facts.least, node.median) : node.median;
    facts.least_p99 = any ? std::min(facts.least_p99, node.p99) : node.p99;
    facts.greatest = std::max(facts.greatest, node.median);
    facts.greatest_p99 = std::max(facts.greatest_p99, node.p99);
    facts.greatest_share = std::max(facts.greatest_share, node.share);
    facts.greatest_slack = std::max(facts.greatest_slack, node.slack);
    any = true;
  }
}

}  // namespace

GraphFacts make_graph_facts(const model::Document& document, const model::GraphEntry& entry, model::ReplayRange range) {
  GraphFacts facts;
  facts.key = entry.graph->key();
  facts.revision = document.revision;
  const std::uint32_t count = entry.graph->node_count();
  std::vector<model::NodeStatistics> of_range;
  const std::vector<model::NodeStatistics>* statistics = &of_range;
  if (covers_all_replays(range) && entry.statistics && entry.statistics->nodes.size() == count) {
    statistics = &entry.statistics->nodes;
  } else {
    of_range = statistics_of(document, entry, range);
  }
  double sum = 0;  // without what nodes run, which is in their time
  for (const model::NodeStatistics& node : *statistics) {
    if (facts.nodes.size() < entry.graph->own_node_count()) sum += static_cast<double>(node.times.sum());
    facts.nodes.push_back(node_of(node));
    facts.medians.push_back(facts.nodes.back().median);
    facts.samples += facts.nodes.back().count;
  }
  if (facts.samples == 0) return facts;
  const model::LongestPaths paths = model::longest_paths(*entry.graph, facts.medians);
  for (std::uint32_t n = 0; n < count; ++n) {
    facts.nodes[n].share = sum > 0 ? static_cast<double>((*statistics)[n].times.sum()) / sum : 0;
    facts.nodes[n].slack = std::max(0.0, paths.slack(entry.graph->own_node_of(n), facts.medians));
  }
  facts.path = model::critical_path(*entry.graph, facts.medians);
  for (const model::PathStep& step : facts.path.steps) facts.nodes[step.node].is_critical = true;
  set_extremes(facts);
  return facts;
}

std::optional<ReplayFacts> make_replay_facts(const model::Document& document, const model::GraphEntry& entry, std::optional<std::uint64_t> replay) {
  const model::Graph& graph = *entry.graph;
  ReplayFacts facts;
  if (replay) {
    const trace::Replay* const found = document.find_replay(graph.key(), *replay);
    if (found == nullptr) return std::nullopt;
    facts.replay = *found;
    if (found->sampled != 0) facts.block = document.samples->find(*found);
  } else {
    if (entry.replays.empty()) return std::nullopt;
    facts.replay = entry.replays.back();
    std::size_t tries = 0;
    for (std::size_t at = entry.replays.size(); at-- > 0 && tries < kMostTries;) {
      const trace::Replay& one = entry.replays[at];
      if (one.sampled == 0) continue;
      ++tries;
      if ((facts.block = document.samples->find(one))) {
        facts.replay = one;
        break;
      }
    }
  }
  facts.times = model::replay_times(graph, facts.block ? *facts.block : trace::SampleBlock{});
  if (facts.block) facts.path = model::critical_path(graph, facts.times);
  return facts;
}

ReplayFigures make_replay_figures(const model::GraphEntry& entry, model::ReplayRange range, RateOver rate) {
  ReplayFigures figures;
  figures.device = model::replay_statistics(entry.replays, model::ReplayMeasure::DeviceTime, range, 1);
  const std::size_t first = std::min(range.first, entry.replays.size());
  const std::size_t end = first + std::min(range.count, entry.replays.size() - first);
  figures.replays = end - first;
  for (std::size_t i = first; i < end; ++i) figures.sampled += entry.replays[i].sampled != 0 ? 1 : 0;
  if (figures.replays < 2) return figures;
  const trace::Time last = entry.replays[end - 1].launched;
  std::size_t from = first;
  if (rate == RateOver::LastSecond) {
    from = entry.replays.lower_bound(last - kSecond, [](const trace::Replay& r, trace::Time t) { return r.launched < t; });
    from = std::min(std::max(from, first), end - 2);
  }
  const trace::Time taken = last - entry.replays[from].launched;
  if (taken > 0) figures.per_second = static_cast<double>(end - 1 - from) * static_cast<double>(kSecond) / static_cast<double>(taken);
  return figures;
}

}  // namespace reprise::viewer
