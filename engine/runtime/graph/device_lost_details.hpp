// What a DeviceLost says of a graph with fault markers: which of its commands were running.
// Threads: any.
#pragma once

#include <reprise/error.hpp>

namespace reprise::detail {

class GraphCore;

// `error`, and where it is a DeviceLost and the graph has fault markers, the commands that began
// and did not end: by index in details().unfinished, by name and replay in the text.
[[nodiscard]] Error add_unfinished(const Error& error, const GraphCore& graph);

}  // namespace reprise::detail
