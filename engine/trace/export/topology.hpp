// Topology: the records that events and samples refer to, read in one pass before events and
// samples are streamed. Events and samples may refer to graphs, versions or nodes without a
// topology record; look-ups return null or a generated name for them. Threads: values and pure
// functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace_reader.hpp"

namespace reprise::trace {

// Receives the number of bytes processed and the size of the file.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Topology {
  std::vector<Session> sessions;
  std::vector<Clock> clocks;
  std::map<std::uint32_t, Device> devices;
  std::map<std::uint32_t, Queue> queues;
  std::map<std::pair<std::uint32_t, std::uint32_t>, GraphVersion> graphs;  // key: graph, version
  std::map<std::uint32_t, ThreadName> thread_names;
  std::map<std::uint32_t, ClockAlignment> alignments;  // by session
  std::map<std::uint32_t, CreationCost> creation_costs;  // by graph

  // Null if the trace has no record of it.
  [[nodiscard]] const GraphVersion* find(std::uint32_t graph, std::uint32_t version) const;
  // The session of the recording process; default-constructed if the trace has no record of it.
  [[nodiscard]] Session session() const;
  // Whether the trace holds several ranks of a distributed job, one per session.
  [[nodiscard]] bool has_ranks() const;
  // The session that recorded an object: an index in `sessions`; 0 if unknown.
  [[nodiscard]] std::uint32_t session_of_device(std::uint32_t device) const;
  [[nodiscard]] std::uint32_t session_of_graph(std::uint32_t graph) const;
  [[nodiscard]] std::uint32_t session_of_thread(std::uint32_t thread) const;
  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t session) const;
};

// Reads all topology chunks. Throws TraceError.
[[nodiscard]] Topology read_topology(const TraceReader& reader);

// Calls `take` with the records of every chunk in file order; holds one chunk in memory at a time.
// Throws TraceError and what `take` throws.
void for_each_chunk(const TraceReader& reader, const Progress& progress,
                    const std::function<void(Records&)>& take);

// The name of a device; if several devices have the same name, followed by its selector. Empty if
// the trace has no record of it.
[[nodiscard]] std::string device_name(const Topology& topology, std::uint32_t device);

// Numbers and labels of graphs.
using GraphLabels = std::set<std::pair<std::uint32_t, std::string>>;
[[nodiscard]] GraphLabels graph_labels(const Topology& topology);
// Finds a graph by number or label. Throws ExportError with a list of the graphs.
[[nodiscard]] std::uint32_t find_graph(const GraphLabels& graphs, const std::string& text);

// "digits 4711", "digits 4711, rank 2"; empty for a default-constructed session.
[[nodiscard]] std::string process_name(const Session& session);
// "rank 3 (digits 4711 on node7)".
[[nodiscard]] std::string rank_process_name(const Session& session);
// The label, or "graph 3" without one.
[[nodiscard]] std::string graph_name(std::uint32_t graph, const std::string& label);
[[nodiscard]] std::string graph_name(const GraphVersion& graph);
[[nodiscard]] std::string node_name(const GraphVersion& graph, std::uint32_t node);
// The label, or "pool 3" without one.
[[nodiscard]] std::string pool_name(std::uint32_t pool, const std::string& label);
// Its mapped device memory; that of its buffers if the trace lacks the former.
[[nodiscard]] std::uint64_t pool_bytes(const PoolState& pool) noexcept;
// For example "epoch / forward"; empty for a node without a label.
[[nodiscard]] std::string label_path(const GraphVersion& graph, std::uint32_t label);
[[nodiscard]] const char* kind_name(NodeKind kind) noexcept;
[[nodiscard]] const char* source_name(SampleSource source) noexcept;
// Where a sample of this source ran: "worker 3", "stream 7", "multiprocessor 12"; "other nodes" for
// nodes that do not know their multiprocessor.
[[nodiscard]] std::string worker_name(SampleSource source, std::uint32_t worker);
[[nodiscard]] const char* severity_name(Severity severity) noexcept;
// The node that runs the body of `node`; kNone in the outermost graph.
[[nodiscard]] std::uint32_t parent_of(const GraphVersion& graph, std::uint32_t node) noexcept;
[[nodiscard]] const char* collective_kind_name(CollectiveKind kind) noexcept;  // "all-reduce"
[[nodiscard]] const char* loss_name(LossKind kind) noexcept;
[[nodiscard]] const char* cause_name(EdgeCause cause) noexcept;
[[nodiscard]] const char* hazard_name(Hazard hazard) noexcept;
[[nodiscard]] const char* buffer_kind_name(BufferKind kind) noexcept;

}  // namespace reprise::trace
