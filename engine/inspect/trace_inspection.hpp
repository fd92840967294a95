// Writes an inspection to the trace of its device. Threads: any.
#pragma once

#include <cstdint>
#include <span>

#include <reprise/inspection.hpp>

#include "inspect/inspected_values.hpp"
#include "runtime/graph/graph_replica.hpp"

namespace reprise::detail {

// `nodes`: of found.commands, in the replica's plan. Contents wait for the writer of the trace, so
// that none are dropped. Requires a trace.
void trace_inspection(const GraphReplica& replica, const Inspection& found,
                      std::span<const std::uint32_t> nodes, const InspectedValues& values);

}  // namespace reprise::detail
