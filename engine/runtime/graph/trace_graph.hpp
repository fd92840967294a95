// Registers executables and their updates with the trace of their device. Threads: the owner's
// lock.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/graph_op.hpp>
#include <reprise/message.hpp>

namespace reprise::detail {

class DeviceTrace;
class GraphExecutable;

// Registers an executable, whose replays the trace logs from now on: as a new graph if
// executable.trace has no version yet, else as another version of that graph. Replicas after the
// first are executables of the first one's graph. `messages`: of its compilation. Requires a trace.
void register_in_trace(GraphExecutable& executable, const std::vector<Message>& messages);

// Call after an update in place: from the executable's replay `replay` on, the trace uses a version
// of the graph for the new plan. Requires a trace.
void trace_update(GraphExecutable& executable, std::uint64_t replay);

// Records the exchanges of clocks with other ranks since the last call.
void trace_clocks(RankAgreement& ranks, const DeviceTrace& trace);

}  // namespace reprise::detail
