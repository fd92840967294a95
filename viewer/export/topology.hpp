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

#include "trace/latest_records.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::trace {

// Receives the number of bytes processed and the size of the file.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Topology : LatestRecords {
  std::vector<Clock> clocks;  // in file order

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

// Numbers and labels of graphs.
using GraphLabels = std::set<std::pair<std::uint32_t, std::string>>;
[[nodiscard]] GraphLabels graph_labels(const Topology& topology);
// Finds a graph by number or label. Throws ExportError with a list of the graphs.
[[nodiscard]] std::uint32_t find_graph(const GraphLabels& graphs, const std::string& text);

// The mapped device memory of a pool; that of its buffers if the trace lacks the former.
[[nodiscard]] std::uint64_t pool_bytes(const PoolState& pool) noexcept;
// The node that runs the body of `node`; kNone in the outermost graph.
[[nodiscard]] std::uint32_t parent_of(const GraphVersion& graph, std::uint32_t node) noexcept;

}  // namespace reprise::trace
