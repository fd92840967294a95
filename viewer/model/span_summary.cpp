#include "model/span_summary.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace reprise::model {

using trace::NodeKind;
using trace::Time;

namespace {

constexpr std::size_t kMaxInFlight = 16;  // earlier replays that may still run when one starts

double overlap(Time started, Time ended, const SelectedSpan& span) {
  return static_cast<double>(
      std::max<Time>(std::min(ended, span.ended) - std::max(started, span.started), 0));
}
bool overlaps(Time started, Time ended, const SelectedSpan& span) {
  return started < span.ended && (ended > span.started || started >= span.started);
}

template <class Each>
void for_each_replay(const ReplayRow& row, const SelectedSpan& span, Each each) {
  const std::size_t from = row.spans.lower_bound(
      span.started, [](const ReplaySpan& s, Time at) { return s.started < at; });
  for (std::size_t i = from - std::min(from, kMaxInFlight); i < row.spans.size(); ++i) {
    const ReplaySpan& one = row.spans[i];
    if (one.started >= span.ended) break;
    if (overlaps(one.started, one.ended, span)) each(one);
  }
}

// The time with at least one replay.
double busy_time(const Activity& activity, const SelectedSpan& span) {
  std::vector<std::pair<Time, Time>> replays;
  for (const auto& [id, row] : activity.queues)
    for_each_replay(row, span, [&](const ReplaySpan& one) {
      replays.emplace_back(std::max(one.started, span.started), std::min(one.ended, span.ended));
    });
  std::sort(replays.begin(), replays.end());
  BusyTime busy;
  for (const auto& [started, ended] : replays) busy.add(started, ended);
  return static_cast<double>(busy.total());
}

void add_gap(SpanPart& part, Time started, Time ended, const SelectedSpan& span) {
  const double time = overlap(started, ended, span);
  if (time == 0) return;
  ++part.count;
  part.time += time;
}

void add_block(const SampleStore::Block& block, RowsBy by, NodeTimes& times, SpanSummary& summary) {
  const SelectedSpan& span = summary.span;
  for (const trace::Sample& s : block->samples) {
    if (s.node >= times.counts.size() || s.started == 0 ||
        !overlaps(s.started, s.started + s.duration, span))
      continue;
    times.totals[s.node] += overlap(s.started, s.started + s.duration, span);
    ++times.counts[s.node];
    ++summary.nodes;
  }
  const TimelineRows rows = timeline_rows(*times.graph, *block, by);
  for (const Gap& gap : gaps(*times.graph, rows, replay_times(*times.graph, *block)))
    add_gap(summary.gaps[static_cast<std::size_t>(gap.kind)], gap.started, gap.ended, span);
}

bool is_transfer(NodeKind kind) {
  return kind == NodeKind::Copy || kind == NodeKind::Fill || kind == NodeKind::Update;
}

void add_transfers(const NodeTimes& times, std::map<std::string, SpanPart>& transfers) {
  for (std::uint32_t n = 0; n < times.counts.size(); ++n) {
    const trace::Node& node = times.graph->record().nodes[n];
    if (times.counts[n] == 0 || !is_transfer(node.kind)) continue;
    SpanPart& part = transfers[times.graph->node_name(n)];
    part.count += times.counts[n];
    part.time += times.totals[n];
    part.bytes += node.bytes * times.counts[n];
  }
}

void sort_by_time(std::vector<SpanPart>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SpanPart& a, const SpanPart& b) { return a.time > b.time; });
}

}  // namespace

SpanSummary summarise(const Document& document, const Activity& activity, SelectedSpan span,
                      RowsBy by) {
  SpanSummary summary;
  summary.span = span;
  summary.busy = busy_time(activity, span);
  for (const auto& [device, row] : activity.idle) {
    for (const IdleGap& gap : row.gaps)
      add_gap(summary.idle[static_cast<std::size_t>(gap.cause)], gap.started, gap.ended, span);
  }
  std::vector<const trace::Replay*> sampled;
  for (const auto& [key, row] : activity.graphs) {
    const GraphEntry* const entry = document.find(key);
    if (entry == nullptr) continue;
    SpanPart part{entry->graph->name()};
    for_each_replay(row, span, [&](const ReplaySpan& one) {
      ++part.count;
      part.time += overlap(one.started, one.ended, span);
      const trace::Replay* const replay = document.find_replay(key, one.replay);
      if (replay != nullptr && replay->sampled != 0) sampled.push_back(replay);
    });
    summary.replays += part.count;
    if (part.count != 0) summary.graphs.push_back(std::move(part));
  }
  sort_by_time(summary.graphs);
  summary.sampled = sampled.size();
  std::map<GraphKey, NodeTimes> by_graph;
  const std::size_t step = (sampled.size() + kMaxSpanReplays - 1) / kMaxSpanReplays;
  for (std::size_t i = 0; i < sampled.size(); i += step) {
    const GraphEntry* const entry = document.find({sampled[i]->graph, sampled[i]->version});
    const SampleStore::Block block = document.samples->find(*sampled[i]);
    if (entry == nullptr || block == nullptr) continue;
    const Graph& graph = *entry->graph;
    NodeTimes& times = by_graph[graph.key()];
    if (times.graph == nullptr)
      times = {&graph, std::vector<double>(graph.node_count()),
               std::vector<std::uint64_t>(graph.node_count())};
    add_block(block, by, times, summary);
    ++summary.read;
  }
  std::vector<NodeTimes> all;
  std::map<std::string, SpanPart> transfers;
  for (auto& [key, times] : by_graph) {
    add_transfers(times, transfers);
    all.push_back(std::move(times));
  }
  for (auto& [name, part] : transfers) {
    part.name = name;
    summary.transfers.push_back(std::move(part));
  }
  sort_by_time(summary.transfers);
  summary.kernels = groups_by_kernel(all);
  summary.labels = groups_by_label(all);
  // Only nodes that ran.
  std::erase_if(summary.kernels, [](const NodeGroup& group) { return group.samples == 0; });
  for (const NodeGroup& group : summary.kernels) summary.node_time += group.total;
  return summary;
}

}  // namespace reprise::model
