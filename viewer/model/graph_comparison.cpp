#include "model/graph_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "model/node_matching.hpp"
#include "model/significance.hpp"

namespace reprise::model {

namespace {

// Pairs unmatched nodes with the same index, label and kind.
void pair_by_index(const Graph& a, const Graph& b, NodeMatching& matching) {
  std::vector<std::uint32_t> removed;
  for (const std::uint32_t n : matching.removed) {
    const auto same = std::lower_bound(matching.added.begin(), matching.added.end(), n);
    const trace::Node& node = a.record().nodes[n];
    if (same == matching.added.end() || *same != n || node.kind != b.record().nodes[n].kind ||
        a.label_path(node.label) != b.label_path(b.record().nodes[n].label)) {
      removed.push_back(n);
      continue;
    }
    matching.pairs.emplace_back(n, n);
    matching.added.erase(same);
  }
  matching.removed = std::move(removed);
  std::sort(matching.pairs.begin(), matching.pairs.end());
}

NodeMatching match(const Graph& a, const Graph& b) {
  const auto identities = [](const Graph& g) {
    std::vector<NodeIdentity> all(g.node_count());
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      const trace::Node& node = g.record().nodes[n];
      all[n] = {g.node_name(n), g.label_path(node.label), node.kind, node.command};
    }
    return all;
  };
  NodeMatching matching = match_nodes(identities(a), identities(b));
  if (a.key().graph != b.key().graph && a.topology() == b.topology()) pair_by_index(a, b, matching);
  return matching;
}

ComparedTimes compared_times(const detail::DurationHistogram& a, const detail::DurationHistogram& b,
                             double median_a, double median_b) {
  const Comparison comparison = compare(a, b);
  ComparedTimes times{
      a.count(), b.count(), median_a, median_b, 0, comparison.p, comparison.b_is_longer};
  if (times.is_known() && median_a > 0) times.change = median_b / median_a - 1;
  return times;
}

// `compared`: the number of simultaneous comparisons.
void judge(ComparedTimes& times, std::size_t compared) {
  if (!times.is_known()) {
    times.verdict = Verdict::Unmeasured;
  } else if (std::min(times.count_a, times.count_b) < kMinSamples) {
    times.verdict = Verdict::TooFewSamples;
  } else if (!is_significant(times.p, compared)) {
    times.verdict = Verdict::Same;
  } else {
    times.verdict = times.b_is_longer > 0.5 ? Verdict::Slower : Verdict::Faster;
  }
}

ComparedTimes compare_replays(const GraphEntry& a, const ReplayRange& in_a, const GraphEntry& b,
                              const ReplayRange& in_b, ReplayMeasure what) {
  const auto histogram = [what](const GraphEntry& entry, const ReplayRange& range) {
    detail::DurationHistogram times;
    for_each_replay(entry.replays, range, [&](std::size_t, const trace::Replay& replay) {
      if (const trace::Time value = measure(replay, what); value >= 0) times.add(value);
    });
    return times;
  };
  ComparedTimes times =
      compared_times(histogram(a, in_a), histogram(b, in_b),
                     static_cast<double>(replay_statistics(a.replays, what, in_a).median),
                     static_cast<double>(replay_statistics(b.replays, what, in_b).median));
  judge(times, 1);
  return times;
}

std::string number_text(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

const char* verdict_name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Slower: return "slower";
    case Verdict::Faster: return "faster";
    case Verdict::Same: return "same";
    case Verdict::TooFewSamples: return "too few samples";
    case Verdict::Unmeasured: return "no samples";
    case Verdict::Added: return "only in B";
    case Verdict::Removed: break;
  }
  return "only in A";
}

bool is_in_body(const GraphComparison& result, const ComparedNode& node) {
  return node.b != trace::kNone ? result.graph_b->parent(node.b) != trace::kNone
                                : result.graph_a->parent(node.a) != trace::kNone;
}

std::string verdict_reason(const ComparedTimes& times, std::size_t compared) {
  switch (times.verdict) {
    case Verdict::Added: return "A has no such node";
    case Verdict::Removed: return "B has no such node";
    case Verdict::Unmeasured: return times.count_a == 0 ? "A has no samples" : "B has no samples";
    case Verdict::TooFewSamples:
      return "A has " + std::to_string(times.count_a) + " and B " + std::to_string(times.count_b) +
             " samples; the test needs " + std::to_string(kMinSamples) + " on each side";
    default: break;
  }
  std::string text =
      times.p < 0.0001 ? "p is below 0.0001" : "p is " + number_text("%.4f", times.p);
  text += ", B is longer in " + number_text("%.0f", times.b_is_longer * 100) +
          " % of the pairs of a sample of A and one of B; ";
  if (compared > 1) text += "with " + std::to_string(compared) + " nodes compared, ";
  return text + "p below " +
         number_text("%.2g",
                     kSignificanceLevel / static_cast<double>(std::max<std::size_t>(compared, 1))) +
         " is significant";
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> matching_nodes(const Graph& a,
                                                                    const Graph& b) {
  return match(a, b).pairs;
}

GraphComparison compare(const ComparedSide& a, const ComparedSide& b) {
  GraphComparison result;
  const GraphEntry *entry_a = a.document.find(a.graph), *entry_b = b.document.find(b.graph);
  if (entry_a != nullptr) result.graph_a = entry_a->graph;
  if (entry_b != nullptr) result.graph_b = entry_b->graph;
  if (entry_a == nullptr || entry_b == nullptr) return result;
  const auto replays = [&](ReplayMeasure what) {
    return compare_replays(*entry_a, a.range, *entry_b, b.range, what);
  };
  result.device_time = replays(ReplayMeasure::DeviceTime);
  result.launch_call = replays(ReplayMeasure::LaunchCall);
  result.launch_latency = replays(ReplayMeasure::LaunchLatency);
  SampledFigures figures_a = sampled_figures(a.document, *entry_a, a.range),
                 figures_b = sampled_figures(b.document, *entry_b, b.range);
  result.contributions_a = std::move(figures_a.contributions);
  result.contributions_b = std::move(figures_b.contributions);
  const bool has_effects =
      result.contributions_a.replays != 0 && result.contributions_b.replays != 0;
  const auto add = [&](std::uint32_t n, std::uint32_t m) -> ComparedNode& {
    const detail::DurationHistogram none;
    const auto &in_a = n == trace::kNone ? none : figures_a.statistics->nodes[n].times,
               &in_b = m == trace::kNone ? none : figures_b.statistics->nodes[m].times;
    ComparedNode node{n, m, compared_times(in_a, in_b, in_a.quantile(0.5), in_b.quantile(0.5))};
    if (has_effects) {
      node.effect = (m == trace::kNone ? 0 : result.contributions_b.nodes[m]) -
                    (n == trace::kNone ? 0 : result.contributions_a.nodes[n]);
    }
    result.nodes.push_back(node);
    return result.nodes.back();
  };
  const NodeMatching matching = match(*entry_a->graph, *entry_b->graph);
  for (const auto& [n, m] : matching.pairs) result.compared += add(n, m).times.is_known() ? 1 : 0;
  for (ComparedNode& node : result.nodes) {
    judge(node.times, result.compared);
    result.slower += node.times.verdict == Verdict::Slower ? 1 : 0;
    result.faster += node.times.verdict == Verdict::Faster ? 1 : 0;
  }
  for (const std::uint32_t n : matching.added) add(trace::kNone, n).times.verdict = Verdict::Added;
  for (const std::uint32_t n : matching.removed)
    add(n, trace::kNone).times.verdict = Verdict::Removed;
  result.added = matching.added.size();
  result.removed = matching.removed.size();
  std::stable_sort(
      result.nodes.begin(), result.nodes.end(), [](const ComparedNode& x, const ComparedNode& y) {
        const auto key = [](const ComparedNode& n) {
          return std::pair(std::abs(n.effect), std::abs(n.times.median_b - n.times.median_a));
        };
        return key(x) > key(y);
      });
  return result;
}

namespace {

// The graphs of each rank and name, in order of their numbers, each by the version to compare.
std::map<std::pair<std::uint32_t, std::string>, std::vector<GraphKey>> graphs_by_name(
    const Document& document) {
  std::map<std::pair<std::uint32_t, std::string>, std::vector<GraphKey>> graphs;
  const bool has_ranks = document.has_ranks();
  const auto worth = [](const GraphEntry& entry) {
    return entry.statistics->samples != 0 ? 2 : entry.replays.empty() ? 0 : 1;
  };
  for (const auto& [key, entry] : document.graphs) {
    const std::uint32_t rank =
        has_ranks ? (*document.sessions)[document.session_of(key)].rank : trace::kNone;
    std::vector<GraphKey>& keys = graphs[{rank, entry.graph->name()}];
    if (keys.empty() || keys.back().graph != key.graph) {
      keys.push_back(key);
    } else if (worth(entry) >= worth(*document.find(keys.back()))) {
      keys.back() = key;
    }
  }
  return graphs;
}

}  // namespace

MatchedGraphs match_graphs(const Document& a, const Document& b) {
  MatchedGraphs matched;
  const auto in_a = graphs_by_name(a);
  auto in_b = graphs_by_name(b);
  for (const auto& [name, keys] : in_a) {
    std::vector<GraphKey>& others = in_b[name];
    const std::size_t pairs = std::min(keys.size(), others.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i < pairs) {
        matched.pairs.emplace_back(keys[i], others[i]);
      } else {
        matched.only_a.push_back(keys[i]);
      }
    }
    others.erase(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(pairs));
  }
  for (const auto& [name, keys] : in_b)
    matched.only_b.insert(matched.only_b.end(), keys.begin(), keys.end());
  return matched;
}

std::optional<GraphKey> matching_graph(const Document& document, GraphKey graph,
                                       const Document& other) {
  for (const auto& [a, b] : match_graphs(document, other).pairs) {
    if (a.graph == graph.graph) return b;
  }
  return std::nullopt;
}

}  // namespace reprise::model
