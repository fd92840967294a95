#include "model/slowdown.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/quantile_rank.hpp"
#include "model/sampled_replays.hpp"

namespace reprise::model {

using trace::kNone;
using trace::Time;

namespace {

// Times between the replay's bounds and those of its nodes; the clocks of the two can differ, so
// they can be negative.
struct NodeBounds {
  Time before = 0, span = 0, after = 0;
};
NodeBounds bounds_of(const trace::Replay& replay, const ReplayTimes& times) {
  return {times.started - replay.started, times.ended - times.started, replay.ended - times.ended};
}

double median_of(std::vector<Time> values) {
  return values.empty() ? 0 : static_cast<double>(detail::quantile_of(values, 0.5));
}

// See ReplayBaseline::latencies.
std::vector<Time> latencies_of(const Document& document, const GraphEntry& entry) {
  struct Run {
    std::uint32_t queue = 0;
    Time started = 0, ended = 0;
    std::size_t index = 0;  // in entry.replays; kOther: of another graph
  };
  constexpr std::size_t kOther = static_cast<std::size_t>(-1);
  std::set<std::uint32_t> queues;
  for (const trace::Replay& replay : entry.replays) queues.insert(replay.queue);
  std::vector<Run> runs;
  for (const auto& [key, other] : document.graphs) {
    for (std::size_t i = 0; i < other.replays.size(); ++i) {
      const trace::Replay& r = other.replays[i];
      if (r.started != 0 && queues.count(r.queue) != 0)
        runs.push_back({r.queue, r.started, r.ended, other.graph == entry.graph ? i : kOther});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair(a.queue, a.started) < std::pair(b.queue, b.started);
  });
  std::vector<Time> latencies(entry.replays.size(), -1);
  Time free_since = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i != 0 && runs[i].queue != runs[i - 1].queue) free_since = 0;
    if (runs[i].index < latencies.size()) {
      const trace::Replay& replay = entry.replays[runs[i].index];
      const Time latency = measure(replay, ReplayMeasure::LaunchLatency);
      if (latency >= 0)
        latencies[runs[i].index] =
            std::min(latency, std::max<Time>(replay.started - free_since, 0));
    }
    free_since = std::max(free_since, runs[i].ended);
  }
  return latencies;
}

Time device_time_of(const trace::Replay& replay) {
  return measure(replay, ReplayMeasure::DeviceTime);
}

bool has_device_time(const trace::Replay& replay) { return device_time_of(replay) >= 0; }

}  // namespace

ReplayBaseline replay_baseline(const Document& document, const GraphEntry& entry, ReplayRange range,
                               std::vector<double> node_medians) {
  ReplayBaseline baseline;
  baseline.latencies = latencies_of(document, entry);
  std::vector<Time> total, latency, device;
  for_each_replay(entry.replays, range, [&](std::size_t i, const trace::Replay& replay) {
    latency.push_back(baseline.latencies[i]);
    device.push_back(device_time_of(replay));
    total.push_back(std::min(latency.back(), device.back()) < 0 ? -1
                                                                : latency.back() + device.back());
  });
  baseline.total = static_cast<double>(replay_statistics(total).median);
  baseline.launch_latency = static_cast<double>(replay_statistics(latency).median);
  baseline.device_time = static_cast<double>(replay_statistics(device).median);
  const Graph& graph = *entry.graph;
  const auto blocks = blocks_of(document, graph.key(), range, gap_replays(graph));
  baseline.gaps = median_gaps(graph, blocks).nodes;
  std::vector<Time> before, span, after;
  for (const SampleStore::Block& block : blocks) {
    const ReplayTimes times = replay_times(graph, *block);
    const trace::Replay* replay = document.find_replay(graph.key(), block->replay);
    if (times.ended == 0 || replay == nullptr) continue;
    const NodeBounds bounds = bounds_of(*replay, times);
    span.push_back(bounds.span);
    if (!has_device_time(*replay)) continue;
    before.push_back(bounds.before);
    after.push_back(bounds.after);
  }
  baseline.node_span = median_of(std::move(span));
  baseline.before_nodes = median_of(std::move(before));
  baseline.after_nodes = median_of(std::move(after));
  baseline.nodes = std::move(node_medians);
  baseline.nodes.resize(graph.node_count());
  return baseline;
}

Slowdown slowdown(const GraphEntry& entry, const ReplayBaseline& baseline,
                  const trace::Replay& replay, const ReplayTimes& times) {
  const Graph& graph = *entry.graph;
  Slowdown s;
  s.replay = replay.replay;
  const bool has_nodes = times.ended != 0;
  const std::size_t index = entry.replays.lower_bound(
      replay.replay, [](const trace::Replay& r, std::uint64_t n) { return r.replay < n; });
  const Time latency = index < baseline.latencies.size() ? baseline.latencies[index] : -1,
             device = device_time_of(replay);
  const NodeBounds bounds = has_nodes ? bounds_of(replay, times) : NodeBounds{};
  const auto add = [&](SlowdownKind kind, double time, double median, std::uint32_t node = kNone,
                       std::uint32_t edge = kNone) {
    s.parts.push_back({kind, node, edge, time, median});
  };
  if (device < 0) {
    s.time = static_cast<double>(bounds.span);
    s.median = baseline.node_span;
  } else if (latency < 0) {
    s.time = static_cast<double>(device);
    s.median = baseline.device_time;
  } else {
    s.time = static_cast<double>(latency + device);
    s.median = baseline.total;
    add(SlowdownKind::LaunchLatency, static_cast<double>(latency), baseline.launch_latency);
  }
  if (has_nodes) {
    if (device >= 0) {
      add(SlowdownKind::BeforeNodes, static_cast<double>(bounds.before), baseline.before_nodes);
      add(SlowdownKind::AfterNodes, static_cast<double>(bounds.after), baseline.after_nodes);
    }
    for (const PathStep& step : critical_path(graph, times).steps) {
      add(SlowdownKind::Gap, step.wait, baseline.gaps[step.node].time, step.node, step.edge);
      add(SlowdownKind::Node, step.duration, baseline.nodes[step.node], step.node);
    }
  } else if (device >= 0) {
    add(SlowdownKind::DeviceTime, static_cast<double>(device), baseline.device_time);
  }
  s.remainder = s.difference();
  for (const SlowdownPart& part : s.parts) s.remainder -= part.excess();
  std::stable_sort(s.parts.begin(), s.parts.end(),
                   [](const SlowdownPart& a, const SlowdownPart& b) {
                     return std::abs(a.excess()) > std::abs(b.excess());
                   });
  return s;
}

std::string part_name(const Graph& graph, const SlowdownPart& part) {
  switch (part.kind) {
    case SlowdownKind::LaunchLatency: return "launch latency without queueing";
    case SlowdownKind::DeviceTime: return "device time (not sampled)";
    case SlowdownKind::BeforeNodes: return "start to first node";
    case SlowdownKind::Gap: return "gap before " + graph.node_name(part.node);
    case SlowdownKind::Node: return graph.node_name(part.node);
    case SlowdownKind::AfterNodes: break;
  }
  return "last node to end";
}

std::vector<std::size_t> slowest_replays(const ListView<trace::Replay>& replays,
                                         std::size_t count) {
  std::vector<std::pair<Time, std::size_t>> all;
  for (std::size_t i = 0; i < replays.size(); ++i) {
    if (const Time time = measure(replays[i], ReplayMeasure::DeviceTime); time >= 0)
      all.emplace_back(-time, i);
  }
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  std::vector<std::size_t> slowest;
  for (std::size_t i = 0; i < count; ++i) slowest.push_back(all[i].second);
  return slowest;
}

}  // namespace reprise::model
