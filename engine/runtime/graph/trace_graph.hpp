// trace_graph: a new graph and what was found in it, for the trace of its device; trace_update:
// what an update in place made of it. Threads: any thread.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/message.hpp>

namespace reprise::detail {

class GraphExecutable;

// `body` has its executable, its device a trace. From now on the body knows its place in the trace
// and logs its replays there: as a new graph; as another version of the one that body.trace_id
// names, where the trace has versions of it; or, of an instance after the first, as executable of
// that one.
void trace_graph(GraphExecutable& body, const std::vector<Message>& messages);

// The executable of `body` goes on by another plan, which is there already, from its replay
// `replay` on. The trace has a new version of the graph then, or goes back to one that it has.
void trace_update(GraphExecutable& body, std::uint64_t replay);

}  // namespace reprise::detail
