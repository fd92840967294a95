// The inspections of a trace, as values of the engine's type. Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <reprise/inspection.hpp>

#include "trace/records.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::cli {

struct TracedInspection {
  trace::Inspection record;
  std::shared_ptr<const trace::GraphVersion> graph;  // owns the file names in `values`
  reprise::Inspection values;
};

// Inspections of graphs whose structure the trace lacks, and ranges that do not fit to it, are left
// out; contents of which a part is missing are Removed. `progress`: done and all chunks. Memory: as
// large as the contents in the trace. Throws TraceError.
[[nodiscard]] std::vector<TracedInspection> read_inspections(
    const trace::TraceReader& reader,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress = {});

}  // namespace reprise::cli
