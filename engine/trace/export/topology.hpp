// Topology: what events and samples of a trace refer to, read once so that these can be streamed;
// and the streaming itself. A sample or replay may name a graph, version or node that no topology
// chunk has: look-ups say so. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace_reader.hpp"

namespace reprise::trace {

// Called with bytes of the file that are done and bytes in all.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Topology {
  std::vector<Session> sessions;
  std::vector<Clock> clocks;
  std::map<std::uint32_t, Device> devices;
  std::map<std::uint32_t, Queue> queues;
  std::map<std::pair<std::uint32_t, std::uint32_t>, GraphVersion> graphs;  // by graph, version
  std::map<std::uint32_t, std::string> thread_names;

  // Null where the trace does not describe it.
  [[nodiscard]] const GraphVersion* find(std::uint32_t graph, std::uint32_t version) const;
  // Of the process that wrote the trace; an empty one where the trace does not say.
  [[nodiscard]] Session session() const;
};

// Reads the topology chunks. Throws TraceError.
[[nodiscard]] Topology read_topology(const TraceReader& reader);

// Calls `take` with the records of every chunk, in file order, one chunk in memory at a time.
void for_each_chunk(const TraceReader& reader, const Progress& progress,
                    const std::function<void(Records&)>& take);

// Of a device, as people know it; where several have that name, with what selects this one. Empty
// where the trace does not describe it.
[[nodiscard]] std::string device_name(const Topology& topology, std::uint32_t device);

// The graph that `text`, a number or a label, names. Throws ExportError that lists the graphs there
// are.
[[nodiscard]] std::uint32_t find_graph(const Topology& topology, const std::string& text);

// "step" or "graph 3" where it has no label.
[[nodiscard]] std::string graph_name(const GraphVersion& graph);
[[nodiscard]] std::string node_name(const GraphVersion& graph, std::uint32_t node);
// "epoch / forward"; empty for a node below no label.
[[nodiscard]] std::string label_path(const GraphVersion& graph, std::uint32_t label);
[[nodiscard]] const char* kind_name(NodeKind kind) noexcept;
[[nodiscard]] const char* source_name(SampleSource source) noexcept;
[[nodiscard]] const char* severity_name(Severity severity) noexcept;
// The node that runs it; kNone for one of the graph's own.
[[nodiscard]] std::uint32_t parent_of(const GraphVersion& graph, std::uint32_t node) noexcept;
[[nodiscard]] const char* loss_name(LossKind kind) noexcept;
[[nodiscard]] const char* cause_name(EdgeCause cause) noexcept;
[[nodiscard]] const char* hazard_name(Hazard hazard) noexcept;
[[nodiscard]] const char* buffer_kind_name(BufferKind kind) noexcept;

}  // namespace reprise::trace
