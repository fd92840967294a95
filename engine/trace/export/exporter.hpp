// Exporters: a trace as a file that other programs open. Each reads the trace chunk by chunk, in
// memory that does not grow with its length, and replaces the output only when it is whole. All
// throw TraceError (the trace can't be read) and ExportError (the output can't be written, or the
// trace has no such graph). Threads: pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trace/export/topology.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::trace {

enum class ExportFormat : std::uint8_t { Perfetto, Chrome, Csv, Sqlite, Dot };

[[nodiscard]] const char* format_name(ExportFormat format) noexcept;
[[nodiscard]] std::optional<ExportFormat> format_from(const std::string& name);

struct ExportDesc {
  std::filesystem::path output;
  std::string graph = {};  // number or label; empty: all of them
  std::uint64_t flow_replays =
      100;  // Perfetto and Chrome draw edges as arrows in so many sampled replays, from the first
  Progress progress = {};
};

struct ExportReport {
  std::uint64_t replays = 0, samples = 0;  // in the output
  std::uint64_t left_out =
      0;  // replays and samples without a time, where the format has no place for these
};

// Slices of replays and nodes on tracks, for ui.perfetto.dev; times are those of the trace's host
// clock, in ns.
ExportReport export_perfetto(const TraceReader& reader, const ExportDesc& desc);
// The same as JSON for chrome://tracing; times are in us, exact to the ns, from the first one in
// the trace.
ExportReport export_chrome(const TraceReader& reader, const ExportDesc& desc);
// A line a sample; RFC 4180, with a header.
ExportReport export_csv(const TraceReader& reader, const ExportDesc& desc);
// Tables of sessions, graphs, nodes, edges, buffers, replays, samples, messages and losses.
ExportReport export_sqlite(const TraceReader& reader, const ExportDesc& desc);
// The newest version of one graph, with the nodes' median times and the critical path. A trace of
// several graphs needs desc.graph.
ExportReport export_dot(const TraceReader& reader, const ExportDesc& desc);

ExportReport export_trace(ExportFormat format, const TraceReader& reader, const ExportDesc& desc);

}  // namespace reprise::trace
