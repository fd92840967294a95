#include "model/trace_summary.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/node_shares.hpp"
#include "model/replay_statistics.hpp"
#include "trace/record_names.hpp"

namespace reprise::model {

namespace {

using trace::GraphVersion;
using trace::Time;

// Saturates: a damaged trace can have any durations.
void add(Time& sum, Time duration) {
  if (__builtin_add_overflow(sum, duration, &sum))
    sum = duration < 0 ? std::numeric_limits<Time>::min() : std::numeric_limits<Time>::max();
}

void keep_most(SharingSummary& sharing) {
  if (sharing.now.size() > sharing.most.size())
    sharing.most.assign(sharing.now.begin(), sharing.now.end());
}

void take_use(SharingSummary& sharing, const trace::PoolUse& use) {
  if (use.to == 0) {
    sharing.now.insert(use.graph);
  } else {
    keep_most(sharing);
    sharing.now.erase(use.graph);
  }
}

GraphSummary describe(const GraphVersion& graph) {
  GraphSummary s;
  s.graph = graph.graph;
  s.version = graph.version;
  s.name = trace::graph_name(graph);
  s.plan_hash = graph.plan_hash;
  s.lanes = graph.lanes;
  s.edges = graph.edges.size();
  for (const trace::Body& body : graph.bodies) s.body_parents.push_back(body.parent);
  s.nodes.resize(graph.nodes.size());
  for (std::uint32_t i = 0; i < s.nodes.size(); ++i) {
    NodeSummary& node = s.nodes[i];
    node.node = i;
    node.name = trace::node_name(graph, i);
    node.label_path = trace::label_path(graph, graph.nodes[i].label);
    node.kind = graph.nodes[i].kind;
    node.command = graph.nodes[i].command;
  }
  for (const trace::Body& body : graph.bodies) {
    for (std::uint32_t i = 0; i < body.nodes; ++i)
      s.nodes[body.first_node + i].parent = body.parent;
    if (body.kind == trace::BodyKind::Loop) s.loops.push_back({.node = body.parent});
  }
  return s;
}

}  // namespace

// A time of 0 means unknown.
void TraceSummarizer::extend(Time from, Time to) {
  for (const Time t : {from, to}) {
    if (t == 0) continue;
    if (summary_.first == 0 || t < summary_.first) summary_.first = t;
    if (summary_.last == 0 || t > summary_.last) summary_.last = t;
  }
}

GraphSummary* TraceSummarizer::find(std::uint32_t graph, std::uint32_t version) {
  const auto found = graphs_.find({graph, version});
  return found == graphs_.end() ? nullptr : &found->second.summary;
}

// The last state of each id, sorted by id.
template <class State>
void TraceSummarizer::keep_last(std::vector<State>& states, std::uint32_t State::*id,
                                const State& state) {
  extend(state.at, state.at);
  const auto at = std::lower_bound(
      states.begin(), states.end(), state.*id,
      [id](const State& known, std::uint32_t wanted) { return known.*id < wanted; });
  if (at == states.end() || (*at).*id != state.*id) {
    states.insert(at, state);
  } else if (at->at <= state.at) {
    *at = state;
  }
}

void TraceSummarizer::take(const trace::Records& records) {
  trace::Records sources;
  sources.sessions = records.sessions;
  sources.devices = records.devices;
  latest_.add(sources);
  for (const GraphVersion& g : records.graph_versions) take(g);
  for (const trace::Replay& r : records.replays) take(r);
  for (const trace::SampleBlock& b : records.sample_blocks) take(b);
  for (const trace::LoopRun& l : records.loop_runs) take(l);
  for (const trace::HostRange& r : records.host_ranges) extend(r.started, r.ended);
  for (const trace::Message& m : records.messages) {
    ++summary_.messages[m.severity];
    extend(m.at, m.at);
  }
  for (const trace::PoolState& p : records.pool_states) {
    keep_last(summary_.pools, &trace::PoolState::pool, p);
    if (p.shared_slabs == 0) continue;
    std::uint64_t& most = summary_.sharing[p.pool].most_slabs;
    most = std::max(most, p.shared_slabs);
  }
  for (const trace::PoolUse& u : records.pool_uses) {
    extend(u.from, u.to);
    if (u.role == trace::PoolRole::Sharer) take_use(summary_.sharing[u.pool], u);
  }
  for (const trace::CreationCost& c : records.creation_costs) extend(c.at, c.at);
  for (const trace::DeviceTotals& d : records.device_totals)
    keep_last(summary_.device_totals, &trace::DeviceTotals::device, d);
  for (const trace::Loss& l : records.losses) summary_.losses[l.kind] += l.count;
  for (const trace::ProfilingOverhead& c : records.profiling_overheads) {
    add(summary_.profile_host, c.host);
    add(summary_.profile_device, c.device);
  }
}

void TraceSummarizer::take(const GraphVersion& graph) {
  graphs_.insert_or_assign({graph.graph, graph.version}, Graph{describe(graph), graph.device});
}

void TraceSummarizer::take(const trace::Replay& replay) {
  extend(replay.launched, replay.launch_returned);
  extend(replay.started, replay.ended);
  GraphSummary* graph = find(replay.graph, replay.version);
  if (graph == nullptr) {
    ++summary_.unknown_replays;
    return;
  }
  ++graph->replays;
  graph->sampled_replays += replay.sampled != 0 ? 1 : 0;
  const auto add = [&replay](detail::DurationHistogram& times, ReplayMeasure what) {
    const Time time = measure(replay, what);
    if (time >= 0) times.add(time);
    return time >= 0;
  };
  add(graph->launch_call, ReplayMeasure::LaunchCall);
  add(graph->launch_latency, ReplayMeasure::LaunchLatency);
  if (!add(graph->device_time, ReplayMeasure::DeviceTime)) ++graph->untimed_replays;
}

void TraceSummarizer::take(const trace::SampleBlock& block) {
  GraphSummary* graph = find(block.graph, block.version);
  if (graph == nullptr) {
    summary_.unknown_samples += block.samples.size();
    return;
  }
  for (const trace::Sample& sample : block.samples) {
    if (sample.node >= graph->nodes.size()) {
      ++summary_.unknown_samples;
      continue;
    }
    NodeSummary& node = graph->nodes[sample.node];
    ++graph->samples;
    if (sample.started == 0) {
      ++node.lost;
      ++graph->lost_samples;
      continue;
    }
    node.times.add(sample.duration);
    extend(sample.started, sample.started + sample.duration);
  }
}

void TraceSummarizer::take(const trace::LoopRun& run) {
  GraphSummary* graph = find(run.graph, run.version);
  if (graph == nullptr || run.body >= graph->body_parents.size()) return;
  for (LoopSummary& loop : graph->loops) {
    if (loop.node != graph->body_parents[run.body]) continue;
    loop.min = loop.replays == 0 ? run.iterations : std::min(loop.min, run.iterations);
    loop.max = std::max(loop.max, run.iterations);
    ++loop.replays;
    loop.iterations += run.iterations;
    loop.timed += run.timed;
  }
}

TraceSummary TraceSummarizer::finish(const trace::TraceReader& reader) {
  summary_.path = reader.path().string();
  summary_.chunks = reader.chunks().size();
  summary_.trailing_bytes = reader.trailing_bytes();
  summary_.damage = reader.damage();
  summary_.file_bytes = trace::kPreambleBytes + reader.trailing_bytes();
  for (const trace::ChunkEntry& entry : reader.chunks())
    summary_.file_bytes += trace::ChunkHeader::kBytes + entry.header.compressed_bytes;
  summary_.sessions = std::move(latest_.sessions);
  for (const auto& [id, device] : latest_.devices) summary_.devices.push_back(device);
  for (auto& [key, graph] : graphs_) {
    graph.summary.device = trace::device_name(latest_.devices, graph.device);
    summary_.graphs.push_back(std::move(graph.summary));
  }
  for (auto& [pool, sharing] : summary_.sharing) keep_most(sharing);
  for (GraphSummary& g : summary_.graphs) {
    std::vector<double> times;
    for (const NodeSummary& n : g.nodes) times.push_back(static_cast<double>(n.times.sum()));
    const std::vector<double> shares =
        node_shares(times, [&](std::uint32_t n) { return g.nodes[n].parent; });
    for (std::size_t n = 0; n < g.nodes.size(); ++n) g.nodes[n].share = shares[n];
  }
  return std::move(summary_);
}

TraceSummary summarize(const trace::TraceReader& reader,
                       const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  TraceSummarizer summarizer;
  std::uint64_t total = 0, done = 0;
  for (const trace::ChunkEntry& entry : reader.chunks()) total += entry.header.compressed_bytes;
  for (const bool is_topology : {true, false}) {
    for (const trace::ChunkEntry& entry : reader.chunks()) {
      if ((entry.header.kind == trace::ChunkKind::Topology) != is_topology) continue;
      summarizer.take(reader.read(entry));
      done += entry.header.compressed_bytes;
      if (progress) progress(done, total);
    }
  }
  return summarizer.finish(reader);
}

}  // namespace reprise::model
