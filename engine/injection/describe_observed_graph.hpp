// Converts an observed graph to a trace record: names, scopes, edges, and the accesses of nodes to
// the program's memory. Threads: a pure function.
#pragma once

#include <cstdint>
#include <string>

#include "injection/observed_graph.hpp"
#include "injection/program_memory.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

struct ObservedIdentity {
  std::uint32_t graph = 0, version = 1, device = 0;
  std::string label;
  trace::Time instantiated = 0, instantiate_time = 0;
};

// A name for a graph that was instantiated in no range: the outermost label, if all labelled nodes
// share it; otherwise its characteristic kernel, as in "add_gelu_0 and 12 others". Kernels that are
// neither elementwise nor copies characterise a graph, and of these the most frequent one.
[[nodiscard]] std::string graph_label(const ObservedGraph& graph);

// `number` of its collectives is 0, and they state no ranks.
[[nodiscard]] trace::GraphVersion describe_observed_graph(const ObservedGraph& graph,
                                                          const ObservedIdentity& identity,
                                                          const ProgramMemory& memory);

}  // namespace reprise::detail
