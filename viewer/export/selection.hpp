// Selection: the topology of a trace and the graphs to export. Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/atomic_file.hpp"
#include "export/exporter.hpp"
#include "export/topology.hpp"

namespace reprise::trace {

struct Selection {
  Topology topology;
  std::optional<std::uint32_t> graph;  // empty: all graphs

  [[nodiscard]] bool takes(std::uint32_t id) const noexcept { return !graph || *graph == id; }
};

// For the output of an export: no more public than the trace, and bounded, because a small trace
// can refer to one long name in each of its records.
[[nodiscard]] inline detail::AtomicFileDesc output_of(const TraceReader& reader) {
  constexpr std::uint64_t kBase = 64u << 20, kPerByte = 4096;
  return {.sources = {reader.access()},
          .max_bytes = kBase + kPerByte * reader.bytes(),
          .limit = "the export of a trace of " + std::to_string(reader.bytes()) + " bytes"};
}

// Throws ExportError if the trace does not contain desc.graph.
[[nodiscard]] inline Selection select(const TraceReader& reader, const ExportDesc& desc) {
  Selection selection{read_topology(reader), std::nullopt};
  if (!desc.graph.empty())
    selection.graph = find_graph(graph_labels(selection.topology), desc.graph);
  return selection;
}

}  // namespace reprise::trace
