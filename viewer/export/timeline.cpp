#include "export/timeline.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "trace/record_names.hpp"

namespace reprise::trace {

namespace {

// A slice needs a start, and an end that is not before the start.
bool is_drawable(Time from, Time to) { return from > 0 && to >= from; }

// The end of a sample; 0 if the sample has no valid time.
Time end_of(const Sample& sample) {
  if (sample.started <= 0 ||
      sample.started > std::numeric_limits<Time>::max() - Time{sample.duration})
    return 0;
  return sample.started + sample.duration;
}

struct Arrows {
  std::vector<std::uint64_t> out, in;
};

class Timeline {
 public:
  Timeline(const Selection& selection, const ExportDesc& desc, TimelineSink& sink)
      : selection_(selection), desc_(desc), sink_(sink) {}

  void take(Records& records) {
    const auto by_start = [](const auto& a, const auto& b) { return a.started < b.started; };
    std::stable_sort(records.host_ranges.begin(), records.host_ranges.end(), by_start);
    for (const HostRange& range : records.host_ranges) take(range);
    for (const PoolState& pool : records.pool_states) {
      if (pool.at > 0)
        sink_.add_counter({pool.pool, selection_.topology.session_of_device(pool.device),
                           "memory of " + pool_name(pool.pool, pool.label), pool.at,
                           pool_bytes(pool)});
    }
    std::stable_sort(records.replays.begin(), records.replays.end(),
                     [](const Replay& a, const Replay& b) { return a.launched < b.launched; });
    for (const Replay& replay : records.replays) {
      if (selection_.takes(replay.graph)) take(replay);
    }
    take(records.sample_blocks);
  }

  [[nodiscard]] const ExportReport& report() const noexcept { return report_; }

 private:
  struct Drawn {
    const SampleBlock* block;
    const Sample* sample;
    const Arrows* arrows;  // null: none
  };

  void take(const HostRange& range) {
    // Ranges outside graphs are part of every selection.
    if (!is_drawable(range.started, range.ended) ||
        (range.graph != kNone && !selection_.takes(range.graph)))
      return;
    Slice slice;
    slice.track = assign_track({TrackKey::Kind::HostRanges, range.thread, 0, range.depth, 0},
                               range.started, range.ended);
    slice.from = range.started;
    slice.to = range.ended;
    slice.name = range.name.empty() ? "range" : range.name;
    slice.category = "host";
    slice.graph = range.graph;
    slice.replay = range.replay;
    sink_.add_slice(slice);
  }

  void take(const Replay& replay) {
    Slice launch, run;
    launch.graph = run.graph = replay.graph;
    launch.replay = run.replay = replay.replay;
    const std::string name =
        name_of(replay.graph, replay.version) + " #" + std::to_string(replay.replay);
    const bool has_launch = is_drawable(replay.launched, replay.launch_returned),
               has_run = is_drawable(replay.started, replay.ended);
    if (has_launch && has_run && launch_arrows_ < desc_.flow_replays &&
        replay.started >= replay.launched) {
      ++launch_arrows_;
      launch.flows_out.push_back(next_flow_);
      run.flows_in.push_back(next_flow_++);
    }
    if (has_launch) {
      launch.track = assign_track({TrackKey::Kind::Launches, replay.thread, 0, 0, 0},
                                  replay.launched, replay.launch_returned);
      launch.from = replay.launched;
      launch.to = replay.launch_returned;
      launch.name = "launch " + name;
      launch.category = "launch";
      sink_.add_slice(launch);
    }
    if (has_run) {
      run.track = assign_track({TrackKey::Kind::Replays, replay.graph, replay.exec, 0, 0},
                               replay.started, replay.ended);
      run.from = replay.started;
      run.to = replay.ended;
      run.name = name;
      run.category = "replay";
      sink_.add_slice(run);
      ++report_.replays;
    } else {
      ++report_.left_out;
    }
  }

  void take(const std::vector<SampleBlock>& blocks) {
    std::vector<Drawn> drawn;
    std::vector<std::vector<Arrows>> arrows(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const SampleBlock& block = blocks[b];
      if (!selection_.takes(block.graph)) continue;
      const GraphVersion* graph = selection_.topology.find(block.graph, block.version);
      if (graph != nullptr && sample_arrows_ < desc_.flow_replays) {
        ++sample_arrows_;
        arrows[b] = arrows_of(*graph, block);
      }
      for (std::size_t i = 0; i < block.samples.size(); ++i) {
        if (end_of(block.samples[i]) == 0) {
          ++report_.left_out;
        } else {
          drawn.push_back({&block, &block.samples[i], arrows[b].empty() ? nullptr : &arrows[b][i]});
        }
      }
    }
    // Equal starts are ordered by node number, which is a topological order.
    std::stable_sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
      return std::pair(a.sample->started, a.sample->node) <
             std::pair(b.sample->started, b.sample->node);
    });
    for (const Drawn& d : drawn) take(d);
  }

  void take(const Drawn& drawn) {
    const SampleBlock& block = *drawn.block;
    const Sample& sample = *drawn.sample;
    const GraphVersion* graph = selection_.topology.find(block.graph, block.version);
    const bool known = graph != nullptr && sample.node < graph->nodes.size();
    // A worker identifies where the node ran. Most timestamps identify only the lane for which it
    // was planned.
    const bool by_worker = block.source == SampleSource::Host || sample.worker != 0 || !known;
    const TrackKey::Kind kind = by_worker ? track_of(block.source) : TrackKey::Kind::Lane;
    Slice slice;
    slice.from = sample.started;
    slice.to = end_of(sample);
    slice.track = assign_track({kind, block.graph, block.exec,
                                by_worker ? sample.worker : graph->nodes[sample.node].lane, 0},
                               slice.from, slice.to);
    slice.name = known ? node_name(*graph, sample.node) : "node " + std::to_string(sample.node);
    slice.category = "node";
    slice.graph = block.graph;
    slice.replay = block.replay;
    slice.node = sample.node;
    slice.occurrence = sample.occurrence;
    if (known) slice.parent = parent_of(*graph, sample.node);
    if (known) slice.label = label_path(*graph, graph->nodes[sample.node].label);
    if (drawn.arrows != nullptr) {
      slice.flows_out = drawn.arrows->out;
      slice.flows_in = drawn.arrows->in;
    }
    sink_.add_slice(slice);
    ++report_.samples;
  }

  // One arrow per edge, from the last run of its source to the first run of its target, unless the
  // target started earlier.
  std::vector<Arrows> arrows_of(const GraphVersion& graph, const SampleBlock& block) {
    constexpr std::size_t kNoSample = ~std::size_t{0};
    std::vector<Arrows> arrows(block.samples.size());
    std::vector<std::size_t> first(graph.nodes.size(), kNoSample),
        last(graph.nodes.size(), kNoSample);
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const Sample& s = block.samples[i];
      if (s.node >= graph.nodes.size() || end_of(s) == 0) continue;
      if (first[s.node] == kNoSample || s.started < block.samples[first[s.node]].started)
        first[s.node] = i;
      if (last[s.node] == kNoSample || s.started > block.samples[last[s.node]].started)
        last[s.node] = i;
    }
    for (const Edge& e : graph.edges) {
      if (last[e.from] == kNoSample || first[e.to] == kNoSample) continue;
      if (block.samples[first[e.to]].started < block.samples[last[e.from]].started) continue;
      arrows[last[e.from]].out.push_back(next_flow_);
      arrows[first[e.to]].in.push_back(next_flow_++);
    }
    return arrows;
  }

  static TrackKey::Kind track_of(SampleSource source) {
    switch (source) {
      case SampleSource::Host: break;
      case SampleSource::Timestamp: return TrackKey::Kind::Multiprocessor;
      case SampleSource::Cupti: return TrackKey::Kind::Stream;
    }
    return TrackKey::Kind::Worker;
  }

  // Assigns the first part of the track that is free at `from`.
  std::uint32_t assign_track(TrackKey key, Time from, Time to) {
    for (;; ++key.part) {
      const auto [found, is_new] =
          tracks_.try_emplace(key, static_cast<std::uint32_t>(tracks_.size()), to);
      if (is_new) sink_.add_track(found->second.first, session_of(key), track_name(key));
      if (is_new || from >= found->second.second) {
        found->second.second = to;
        return found->second.first;
      }
    }
  }

  std::string name_of(std::uint32_t graph, std::uint32_t version) const {
    const GraphVersion* g = selection_.topology.find(graph, version);
    return g == nullptr ? "graph " + std::to_string(graph) : graph_name(*g);
  }

  std::uint32_t session_of(const TrackKey& key) const {
    const bool is_thread =
        key.kind == TrackKey::Kind::Launches || key.kind == TrackKey::Kind::HostRanges;
    return is_thread ? selection_.topology.session_of_thread(key.owner)
                     : selection_.topology.session_of_graph(key.owner);
  }

  std::string track_name(const TrackKey& key) const {
    std::string name;
    if (key.kind == TrackKey::Kind::Launches || key.kind == TrackKey::Kind::HostRanges) {
      const auto thread = selection_.topology.thread_names.find(key.owner);
      name = thread == selection_.topology.thread_names.end() ? "thread" : thread->second.name;
      name += " (" + std::to_string(key.owner) + ")";
    } else {
      const auto graph = selection_.topology.graphs.lower_bound({key.owner, 0});
      const bool known = graph != selection_.topology.graphs.end() &&
                         graph->first.first == key.owner && !graph->second.label.empty();
      name = known ? graph->second.label + " (graph " + std::to_string(key.owner) + ")"
                   : "graph " + std::to_string(key.owner);
      if (key.exec != 0) name += ", exec " + std::to_string(key.exec);
    }
    switch (key.kind) {
      case TrackKey::Kind::Launches: name += ", launches"; break;
      case TrackKey::Kind::HostRanges: name += ", ranges " + std::to_string(key.number); break;
      case TrackKey::Kind::Replays: name += ", replays"; break;
      case TrackKey::Kind::Worker:
        name += ", " + worker_name(SampleSource::Host, key.number);
        break;
      case TrackKey::Kind::Stream:
        name += ", " + worker_name(SampleSource::Cupti, key.number);
        break;
      case TrackKey::Kind::Multiprocessor:
        name += ", " + worker_name(SampleSource::Timestamp, key.number);
        break;
      case TrackKey::Kind::Lane: name += ", lane " + std::to_string(key.number); break;
    }
    return key.part == 0 ? name : name + " / " + std::to_string(key.part + 1);
  }

  const Selection& selection_;
  const ExportDesc& desc_;
  TimelineSink& sink_;
  ExportReport report_;
  std::map<TrackKey, std::pair<std::uint32_t, Time>>
      tracks_;  // track number; end of its last slice
  std::uint64_t launch_arrows_ = 0, sample_arrows_ = 0, next_flow_ = 1;
};

}  // namespace

ExportReport draw_timeline(const TraceReader& reader, const Selection& selection,
                           const ExportDesc& desc, TimelineSink& sink) {
  Timeline timeline(selection, desc, sink);
  for_each_chunk(reader, desc.progress, [&](Records& records) { timeline.take(records); });
  return timeline.report();
}

}  // namespace reprise::trace
