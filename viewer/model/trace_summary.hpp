// TraceSummary: aggregate statistics of a trace file: replays, their measures (ReplayMeasure) and
// node times per graph version; losses, messages, sessions and the covered time range. Chunks are
// read one at a time: memory is the topology, one chunk and one DurationHistogram per node.
// Quantiles have the histogram's precision; counts, totals, minima and maxima are exact. Threads:
// pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log_histogram.hpp"
#include "trace/latest_records.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::model {

struct NodeSummary {
  std::uint32_t node = 0;
  std::string name, label_path;
  trace::NodeKind kind = trace::NodeKind::Other;
  std::uint32_t command = trace::kNone;
  // the node that runs the body; kNone for the graph's own nodes
  std::uint32_t parent = trace::kNone;
  detail::DurationHistogram times;  // ns per sample
  std::uint64_t lost = 0;           // samples without a time
  double share = 0;                 // see node_shares()
};

// A loop, over the replays that reported iteration counts.
struct LoopSummary {
  std::uint32_t node = 0;
  std::uint64_t replays = 0;
  std::uint64_t iterations = 0, timed = 0;  // totals; timed: iterations with node samples
  std::uint64_t min = 0, max = 0;           // iterations per replay
};

struct GraphSummary {
  std::uint32_t graph = 0, version = 0;
  std::string name;
  std::string device;  // empty if not described
  std::uint64_t plan_hash = 0;
  std::uint32_t lanes = 0;
  std::size_t edges = 0;
  std::uint64_t replays = 0, sampled_replays = 0;
  std::uint64_t untimed_replays = 0;  // without a known device time
  detail::DurationHistogram device_time, launch_call, launch_latency;  // ns, see ReplayMeasure
  std::uint64_t samples = 0, lost_samples = 0;
  std::vector<NodeSummary> nodes;           // in creation order
  std::vector<LoopSummary> loops;           // by node
  std::vector<std::uint32_t> body_parents;  // parent node of each body
};

// The graphs whose transients share slabs of a pool.
struct SharingSummary {
  std::set<std::uint32_t> now;      // at the end of the trace
  std::vector<std::uint32_t> most;  // ascending; when there were most
  std::uint64_t most_slabs = 0;     // max count of shared slabs
};

struct TraceSummary {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::size_t chunks = 0;
  std::uint64_t trailing_bytes = 0;  // after the last complete chunk
  std::string damage;
  std::vector<trace::Session> sessions;
  std::vector<trace::Device> devices;
  trace::Time first = 0, last = 0;                  // range of all timestamps; 0, 0 without any
  std::vector<GraphSummary> graphs;                 // by graph, version
  std::vector<trace::PoolState> pools;              // by id; latest state of each
  std::map<std::uint32_t, SharingSummary> sharing;  // by pool; only pools that had any
  std::vector<trace::DeviceTotals> device_totals;   // by device; latest state of each
  std::map<trace::LossKind, std::uint64_t> losses;
  std::map<trace::Severity, std::uint64_t> messages;
  trace::Time profile_host = 0, profile_device = 0;  // ns spent on profiling
  std::uint64_t unknown_replays = 0,
                // of graphs, versions or nodes that the trace does not describe
      unknown_samples = 0;
};

// Makes a summary from the records of a trace, whose topology precedes the other records.
class TraceSummarizer {
 public:
  void take(const trace::Records& records);
  // Call it once.
  [[nodiscard]] TraceSummary finish(const trace::TraceReader& reader);

 private:
  GraphSummary* find(std::uint32_t graph, std::uint32_t version);
  void extend(trace::Time from, trace::Time to);
  template <class State>
  void keep_last(std::vector<State>& states, std::uint32_t State::*id, const State& state);
  void take(const trace::GraphVersion& graph);
  void take(const trace::Replay& replay);
  void take(const trace::SampleBlock& block);
  void take(const trace::LoopRun& run);

  TraceSummary summary_;
  struct Graph {
    GraphSummary summary;
    std::uint32_t device = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Graph> graphs_;  // by graph, version
  trace::LatestRecords latest_;                                      // sessions and devices
};

// Reads the whole file; `progress` receives numbers of bytes. Throws TraceError.
[[nodiscard]] TraceSummary summarize(
    const trace::TraceReader& reader,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace reprise::model
