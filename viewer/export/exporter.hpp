// Exporters convert a trace to a file of another format. They read the trace chunk by chunk, so
// their memory does not depend on its length, and replace the output file atomically at the end. It
// is no more public than the trace, and limited in proportion to the trace's size. They throw
// TraceError (the trace cannot be read), ExportError (the trace does not contain the graph) and
// detail::FileError (the output cannot be written). Threads: pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "export/topology.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::trace {

enum class ExportFormat : std::uint8_t { Perfetto, Csv, Sqlite, Dot };

[[nodiscard]] const char* format_name(ExportFormat format) noexcept;
[[nodiscard]] std::optional<ExportFormat> format_from(const std::string& name);

struct ExportDesc {
  std::filesystem::path output;
  std::string graph = {};  // number or label; empty: all graphs
  // Perfetto: number of sampled replays, from the first, that get arrows for their edges.
  std::uint64_t flow_replays = 100;
  Progress progress = {};
};

struct ExportReport {
  std::uint64_t replays = 0, samples = 0;  // written
  // Replays and samples without a time, if the format cannot represent them.
  std::uint64_t left_out = 0;
};

// Slices of replays and nodes on tracks, for ui.perfetto.dev. Times are on the trace's host clock,
// in ns.
ExportReport export_perfetto(const TraceReader& reader, const ExportDesc& desc);
// One row per replay, sample, range and pool state, and two per graph of an observed program: its
// capture and its first launch. RFC 4180 with a header row.
ExportReport export_csv(const TraceReader& reader, const ExportDesc& desc);
// Tables of sessions, queues, threads, graphs, nodes, edges, buffers, accesses, segments, block
// relations, replays, samples, loops, messages, losses and the cost of creating the graphs of an
// observed program.
ExportReport export_sqlite(const TraceReader& reader, const ExportDesc& desc);
// The newest version of one graph with the median times of its nodes and the critical path; beside
// it, ranges by name and pools.
// desc.graph is required for a trace of several graphs.
ExportReport export_dot(const TraceReader& reader, const ExportDesc& desc);

ExportReport export_trace(ExportFormat format, const TraceReader& reader, const ExportDesc& desc);

}  // namespace reprise::trace
