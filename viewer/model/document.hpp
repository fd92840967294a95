// Document: everything that a viewer shows of one trace, file or live, as an immutable value. Each
// publication is a new Document that shares with the one before it whatever did not change. Samples
// are not in it: `samples` finds those of a replay. Draws nothing, knows no file. Threads: a value
// that many may read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log_histogram.hpp"
#include "model/graph.hpp"
#include "model/growing_list.hpp"
#include "model/sample_sources.hpp"
#include "model/sample_store.hpp"

namespace reprise::model {

// Of one node, over all samples that were taken so far.
struct NodeStatistics {
  detail::CompactDurationHistogram times;
  std::uint64_t lost = 0;  // samples without a time
};

struct GraphStatistics {
  std::vector<NodeStatistics> nodes;
  std::int64_t sum = 0;  // ns, of all nodes of the graph itself: what they run is in their time
  std::uint64_t samples = 0;  // with a time
  std::uint64_t unknown = 0;  // of nodes that the version does not have
  SampleSources sources;      // of its replays' samples
  // A node's part of the time of all nodes, 0 to 1.
  [[nodiscard]] double share(std::uint32_t node) const;
  [[nodiscard]] std::vector<double> medians() const;  // ns, a node each; 0 without a sample
};

struct GraphEntry {
  std::shared_ptr<const Graph> graph;
  ListView<trace::Replay> replays;  // by number
  std::uint64_t forgotten_replays =
      0;  // that stood before them, of a live session that goes on for long
  ListView<trace::LoopRun>
      loops;  // by replay; those of replays that told how often their loops went round
  std::shared_ptr<const GraphStatistics> statistics;
};

struct Document {
  template <class T>
  using Table = std::shared_ptr<const std::map<std::uint32_t, T>>;  // by id; never null

  std::shared_ptr<const std::vector<trace::Session>> sessions;  // never null
  Table<trace::Device> devices;
  Table<trace::Queue> queues;
  Table<std::string> thread_names;
  Table<trace::PoolState> pools;             // what each was last
  Table<trace::DeviceTotals> device_totals;  // by device: what each was last
  Table<trace::BufferLife> buffers;  // persistent ones; a later record of one replaces the earlier
  ListView<trace::Clock> clocks;
  ListView<trace::PoolState> pool_history;
  ListView<trace::DeviceTotals> device_history;
  ListView<trace::HostRange> host_ranges;  // as they came: by end, inner before outer
  ListView<trace::Message> messages;
  ListView<trace::Update> updates;
  ListView<trace::Loss> losses;
  ListView<trace::ProfileCost> profile_costs;
  std::map<GraphKey, GraphEntry> graphs;
  std::uint64_t forgotten_host_ranges = 0;  // that stood before host_ranges, as forgotten_replays
  std::uint64_t unknown_replays = 0,
                unknown_samples = 0;  // of versions that the trace does not describe
  trace::Time first = 0, last = 0;    // of everything with a time; 0, 0: nothing
  std::uint64_t revision =
      0;  // greater for what was published later; no two of a process are the same
  std::shared_ptr<SampleStore> samples;  // never null

  [[nodiscard]] const GraphEntry* find(GraphKey key) const;  // null: not there
  // Null: no such replay.
  [[nodiscard]] const trace::Replay* find_replay(GraphKey key, std::uint64_t replay) const;
};

}  // namespace reprise::model
