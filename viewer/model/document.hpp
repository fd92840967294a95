// Document: an immutable snapshot of one trace, file or live, with everything that the viewer
// shows. Consecutive documents share unchanged parts. Node samples stay in `samples`, which finds
// those of a replay. Performs no drawing and no file access of its own. Threads: an immutable
// value, safe to read concurrently.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "model/communication.hpp"
#include "model/graph.hpp"
#include "model/growing_list.hpp"
#include "model/node_statistics.hpp"
#include "model/sample_store.hpp"
#include "trace/collective_runs.hpp"

namespace reprise::model {

struct GraphEntry {
  std::shared_ptr<const Graph> graph;
  ListView<trace::Replay> replays;  // by replay number
  // older replays that a long live session dropped
  std::uint64_t dropped_replays = 0;
  // by replay; only replays that reported iteration counts
  ListView<trace::LoopRun> loops;
  // Collectives of sampled replays, by replay; empty for graphs without collectives.
  ListView<trace::CollectiveRun> collectives;
  ListView<Communication> communication;
  std::shared_ptr<const GraphStatistics> statistics;  // of all samples so far; never null
};

struct Document {
  // by id; never null
  template <class T>
  using Table = std::shared_ptr<const std::map<std::uint32_t, T>>;

  std::shared_ptr<const std::vector<trace::Session>> sessions;  // never null
  Table<trace::ClockAlignment> alignments;                      // by session; of merged traces
  Table<trace::Device> devices;
  Table<trace::Queue> queues;
  Table<trace::ThreadName> thread_names;
  Table<trace::PoolState> pools;  // latest state of each
  // Current (to 0) and former uses, by pool, role and graph. Never null.
  using PoolUses =
      std::map<std::tuple<std::uint32_t, trace::PoolRole, std::uint32_t>, trace::PoolUse>;
  std::shared_ptr<const PoolUses> pool_uses;
  Table<trace::DeviceTotals> device_totals;   // by device; latest state of each
  Table<trace::CreationCost> creation_costs;  // by graph; latest of each
  Table<trace::BufferLifetime>
      buffers;  // persistent buffers; a later record replaces an earlier one
  ListView<trace::Clock> clocks;
  ListView<trace::PoolState> pool_history;
  ListView<trace::DeviceTotals> device_history;
  ListView<trace::HostRange> host_ranges;  // in arrival order: by end, inner before outer
  ListView<trace::Message> messages;
  ListView<trace::Update> updates;
  ListView<trace::Loss> losses;
  ListView<trace::ProfilingOverhead> profiling_overheads;
  bool is_observed = false;    // `reprise run` recorded the trace
  std::string observing_cost;  // measured by `reprise run --measure-cost`; empty: not measured
  std::map<GraphKey, GraphEntry> graphs;
  std::uint64_t dropped_host_ranges = 0;  // older ranges that a long live session dropped
  // of graph versions that the trace does not describe
  std::uint64_t unknown_replays = 0, unknown_samples = 0;
  trace::Time first = 0, last = 0;  // range of all timestamps; 0, 0 without any
  // unique in the process; later publications have larger values
  std::uint64_t revision = 0;
  std::shared_ptr<SampleStore> samples;  // never null

  [[nodiscard]] const GraphEntry* find(GraphKey key) const;  // null if absent
  enum class Uses : std::uint8_t { Current, Former };
  // The graphs that use the pool, ascending.
  [[nodiscard]] std::vector<std::uint32_t> users_of(std::uint32_t pool, trace::PoolRole role,
                                                    Uses uses) const;
  // The program, number and rank of the recorded process: "digits 4711, rank 2". Of a merged
  // trace, the program and the number of ranks: "digits, 4 ranks".
  [[nodiscard]] std::string process_name() const;
  // Whether the trace holds several ranks of a distributed job, one per session.
  [[nodiscard]] bool has_ranks() const;
  // The session that recorded an object: an index in `sessions`; 0 if unknown.
  [[nodiscard]] std::uint32_t session_of(GraphKey graph) const;
  [[nodiscard]] std::uint32_t session_of_device(std::uint32_t device) const;
  [[nodiscard]] std::uint32_t session_of_queue(std::uint32_t queue) const;
  [[nodiscard]] std::uint32_t session_of_thread(std::uint32_t thread) const;
  // "rank 3"; empty for a session that is no rank.
  [[nodiscard]] std::string rank_name(std::uint32_t session) const;
  [[nodiscard]] std::string queue_name(std::uint32_t queue) const;  // its label, or "queue 4"
  // The label of the pool, or "pool 3" without one; of a merged trace "weights, rank 3". Empty for
  // kNone.
  [[nodiscard]] std::string pool_name(std::uint32_t pool) const;
  // Null if absent.
  [[nodiscard]] const trace::Replay* find_replay(GraphKey key, std::uint64_t replay) const;
};

}  // namespace reprise::model
