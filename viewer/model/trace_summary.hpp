// TraceSummary: a trace file in figures: per version of a graph its replays, launch latency, device
// time and node times; losses, messages, sessions and the time that all of it covers. Chunks are
// read one after the other: memory is the topology, one chunk, and a DurationHistogram a node,
// whatever the number of samples. Quantiles are as exact as that says; counts, totals, least and
// greatest are exact. Includes engine/trace alone. Threads: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/log_histogram.hpp"
#include "trace/export/topology.hpp"

namespace reprise::model {

struct NodeSummary {
  std::uint32_t node = 0;
  std::string name, label_path;
  trace::NodeKind kind = trace::NodeKind::Other;
  std::uint32_t command = trace::kNone;
  std::uint32_t parent = trace::kNone;  // the node that runs it; kNone: the graph itself
  detail::DurationHistogram times;      // ns, of its samples
  std::uint64_t lost = 0;               // samples without a time
  double share = 0;                     // of the time of all nodes of this version, 0 to 1
};

// A loop, over the replays that told how often it went round.
struct LoopSummary {
  std::uint32_t node = 0;
  std::uint64_t replays = 0;
  std::uint64_t iterations = 0, timed = 0;  // in all of them; those whose nodes have samples
  std::uint64_t least = 0, greatest = 0;    // iterations of one replay
};

struct GraphSummary {
  std::uint32_t graph = 0, version = 0;
  std::string name;
  std::string device;  // empty: not described
  std::uint64_t plan_hash = 0;
  std::uint32_t lanes = 0;
  std::size_t edges = 0;
  std::uint64_t replays = 0, sampled_replays = 0;
  std::uint64_t untimed_replays = 0;      // whose time on the device is unknown
  detail::DurationHistogram launch;       // ns, from the call of launch to its return
  detail::DurationHistogram device_time;  // ns, from start to end on the device
  std::uint64_t samples = 0, lost_samples = 0;
  std::vector<NodeSummary> nodes;           // in creation order
  std::vector<LoopSummary> loops;           // by node
  std::vector<std::uint32_t> body_parents;  // of the graph's bodies
};

struct TraceSummary {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::size_t chunks = 0;
  std::uint64_t trailing_bytes = 0;  // after the last whole chunk
  std::string damage;
  std::vector<trace::Session> sessions;
  std::vector<trace::Device> devices;
  trace::Time first = 0, last = 0;      // of everything with a time; 0, 0: nothing
  std::vector<GraphSummary> graphs;     // by graph, version
  std::vector<trace::PoolState> pools;  // by id: what each was last
  std::vector<trace::PoolState>
      shared_pools;  // by id: what each was while most graphs shared slabs of it, if any did
  std::vector<trace::DeviceTotals> device_totals;  // by device: what each was last
  std::map<trace::LossKind, std::uint64_t> losses;
  std::map<trace::Severity, std::uint64_t> messages;
  trace::Time profile_host = 0, profile_device = 0;  // ns that profiling spent
  std::uint64_t unknown_replays = 0,
                unknown_samples =
                    0;  // of graphs, versions or nodes that the trace does not describe
};

// Throws TraceError.
[[nodiscard]] TraceSummary summarize(const trace::TraceReader& reader,
                                     const trace::Progress& progress = {});

}  // namespace reprise::model
