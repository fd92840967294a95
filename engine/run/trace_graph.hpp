// trace_graph: a new graph and what was found in it, for the trace of its device. Threads: any thread.
#pragma once

#include <vector>

#include <reprise/message.hpp>

namespace reprise::detail {

class GraphBody;

// `body` has its executable, its device a trace. From now on the body knows its place in the trace and logs its replays there: an instance
// after the first, as executable of the graph that body.trace_id names already.
void trace_graph(GraphBody& body, const std::vector<Message>& messages);

}  // namespace reprise::detail
