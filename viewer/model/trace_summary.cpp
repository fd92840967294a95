#include "model/trace_summary.hpp"

#include <algorithm>
#include <utility>

namespace reprise::model {

namespace {

using trace::GraphVersion;
using trace::Time;

class Summarizer {
 public:
  explicit Summarizer(TraceSummary& summary) : summary_(summary) {}

  void describe(const trace::Topology& topology) {
    summary_.sessions = topology.sessions;
    for (const auto& [id, device] : topology.devices) summary_.devices.push_back(device);
    summary_.graphs.reserve(topology.graphs.size());
    for (const auto& [key, graph] : topology.graphs) {
      index_.emplace(key, summary_.graphs.size());
      summary_.graphs.push_back(describe(graph, topology));
    }
  }

  void take(const trace::Records& records) {
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
      const auto shares_more = [](const trace::PoolState& known, const trace::PoolState& state) {
        return known.sharers.size() <= state.sharers.size();
      };
      if (!p.sharers.empty()) keep(summary_.shared_pools, &trace::PoolState::pool, p, shares_more);
    }
    for (const trace::DeviceTotals& d : records.device_totals)
      keep_last(summary_.device_totals, &trace::DeviceTotals::device, d);
    for (const trace::Loss& l : records.losses) summary_.losses[l.kind] += l.count;
    for (const trace::ProfilingOverhead& c : records.profiling_overheads) {
      summary_.profile_host += c.host;
      summary_.profile_device += c.device;
    }
  }

  void finish() {
    for (GraphSummary& g : summary_.graphs) {
      double total = 0;  // own nodes only: their times include those of their bodies
      for (const NodeSummary& n : g.nodes)
        total += n.parent == trace::kNone ? static_cast<double>(n.times.sum()) : 0;
      for (NodeSummary& n : g.nodes)
        n.share = total > 0 ? static_cast<double>(n.times.sum()) / total : 0;
    }
  }

 private:
  static GraphSummary describe(const GraphVersion& graph, const trace::Topology& topology) {
    GraphSummary s;
    s.graph = graph.graph;
    s.version = graph.version;
    s.name = trace::graph_name(graph);
    s.device = trace::device_name(topology, graph.device);
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

  GraphSummary* find(std::uint32_t graph, std::uint32_t version) {
    const auto found = index_.find({graph, version});
    return found == index_.end() ? nullptr : &summary_.graphs[found->second];
  }

  // A time of 0 means unknown.
  void extend(Time from, Time to) {
    for (const Time t : {from, to}) {
      if (t == 0) continue;
      if (summary_.first == 0 || t < summary_.first) summary_.first = t;
      if (summary_.last == 0 || t > summary_.last) summary_.last = t;
    }
  }

  // The last state of each id, sorted by id.
  template <class State>
  void keep_last(std::vector<State>& states, std::uint32_t State::*id, const State& state) {
    extend(state.at, state.at);
    keep(states, id, state,
         [](const State& known, const State& later) { return known.at <= later.at; });
  }

  // For each id, the state that `replaces` all others.
  template <class State, class Replaces>
  static void keep(std::vector<State>& states, std::uint32_t State::*id, const State& state,
                   const Replaces& replaces) {
    const auto at = std::lower_bound(
        states.begin(), states.end(), state.*id,
        [id](const State& known, std::uint32_t wanted) { return known.*id < wanted; });
    if (at == states.end() || (*at).*id != state.*id) {
      states.insert(at, state);
    } else if (replaces(*at, state)) {
      *at = state;
    }
  }

  void take(const trace::Replay& replay) {
    extend(replay.launched, replay.launch_returned);
    extend(replay.started, replay.ended);
    GraphSummary* graph = find(replay.graph, replay.version);
    if (graph == nullptr) {
      ++summary_.unknown_replays;
      return;
    }
    ++graph->replays;
    graph->sampled_replays += replay.sampled != 0 ? 1 : 0;
    if (replay.launched != 0 && replay.launch_returned != 0)
      graph->launch.add(replay.launch_returned - replay.launched);
    if (replay.started != 0 && replay.ended != 0) {
      graph->device_time.add(replay.ended - replay.started);
    } else {
      ++graph->untimed_replays;
    }
  }

  void take(const trace::SampleBlock& block) {
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

  void take(const trace::LoopRun& run) {
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

  TraceSummary& summary_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index_;
};

}  // namespace

TraceSummary summarize(const trace::TraceReader& reader, const trace::Progress& progress) {
  TraceSummary summary;
  summary.path = reader.path().string();
  summary.chunks = reader.chunks().size();
  summary.trailing_bytes = reader.trailing_bytes();
  summary.damage = reader.damage();
  summary.file_bytes = trace::kPreambleBytes + reader.trailing_bytes();
  for (const trace::ChunkEntry& entry : reader.chunks())
    summary.file_bytes += trace::ChunkHeader::kBytes + entry.header.compressed_bytes;

  Summarizer summarizer(summary);
  summarizer.describe(trace::read_topology(reader));
  trace::for_each_chunk(reader, progress,
                        [&](const trace::Records& records) { summarizer.take(records); });
  summarizer.finish();
  return summary;
}

}  // namespace reprise::model
