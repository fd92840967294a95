// Exports of the hand-made trace. Threads: one at a time.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "export/exporter.hpp"
#include "support/paths.hpp"
#include "trace/trace_file.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/merged_job.hpp"

namespace reprise::test {

struct Exported {
  std::filesystem::path trace, output;
  trace::ExportReport report;
};

// Writes the trace and exports it as `name` to the scratch directory.
[[nodiscard]] inline Exported export_hand_made(trace::ExportFormat format, const std::string& name,
                                               const std::string& graph = {},
                                               std::uint64_t flow_replays = 100) {
  Exported e{scratch_folder() / "made.reprise", scratch_folder() / name, {}};
  write_hand_made_trace(e.trace);
  e.report =
      trace::export_trace(format, trace::TraceReader(e.trace),
                          {.output = e.output, .graph = graph, .flow_replays = flow_replays});
  return e;
}

// The trace of a program whose graph 3 was captured and launched, and 4 only captured.
[[nodiscard]] inline Exported export_captured(trace::ExportFormat format, const std::string& name) {
  Exported e{scratch_folder() / "captured.reprise", scratch_folder() / name, {}};
  trace::Records topology;
  topology.graph_versions.resize(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    trace::GraphVersion& graph = topology.graph_versions[i];
    graph.graph = 3 + i;
    graph.version = 1;
    graph.label = i == 0 ? "step" : "spare";
    graph.strings = {""};
    graph.labels = {{}};
  }
  topology.creation_costs = {
      {3, 100, 40, 0, 4'096}, {3, 900, 40, 7, 4'096, -64}, {4, 500, 0, 0, 2'048}};
  {
    trace::TraceFile file({.path = e.trace});
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, topology, 0)));
  }
  e.report = trace::export_trace(format, trace::TraceReader(e.trace), {.output = e.output});
  return e;
}

// The merged trace of four ranks on two hosts, with 10 replays each.
[[nodiscard]] inline Exported export_ranks(trace::ExportFormat format, const std::string& name) {
  Exported e{scratch_folder() / "ranks.reprise", scratch_folder() / name, {}};
  HandMadeRanks options = aligned_ranks();
  options.replays = 10;
  const HandMadeJob job(options);
  {
    trace::TraceFile file({.path = e.trace});
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Topology, merged_topology(job, 12'300), 0)));
    file.write(std::make_shared<const trace::Chunk>(
        trace::make_chunk(trace::ChunkKind::Events, merged_events(job), 1)));
  }
  e.report = trace::export_trace(format, trace::TraceReader(e.trace), {.output = e.output});
  return e;
}

}  // namespace reprise::test
