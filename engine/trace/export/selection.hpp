// Selection: the topology of a trace and the graphs to export. Threads: values.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/export/exporter.hpp"
#include "trace/export/topology.hpp"

namespace reprise::trace {

struct Selection {
  Topology topology;
  std::optional<std::uint32_t> graph;  // empty: all graphs

  [[nodiscard]] bool takes(std::uint32_t id) const noexcept { return !graph || *graph == id; }
};

// Throws ExportError if the trace does not contain desc.graph.
[[nodiscard]] inline Selection select(const TraceReader& reader, const ExportDesc& desc) {
  Selection selection{read_topology(reader), std::nullopt};
  if (!desc.graph.empty())
    selection.graph = find_graph(graph_labels(selection.topology), desc.graph);
  return selection;
}

}  // namespace reprise::trace
