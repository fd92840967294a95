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
  std::uint32_t graph = 0, device = 0;
  std::string label;
  trace::Time instantiated = 0, instantiate_time = 0;
};

// `number` of its collectives is 0, and they state no ranks.
[[nodiscard]] trace::GraphVersion describe_observed_graph(const ObservedGraph& graph,
                                                          const ObservedIdentity& identity,
                                                          const ProgramMemory& memory);

// The parameters of a node in one line.
[[nodiscard]] std::string describe_observed_node(const ObservedGraph& graph, std::uint32_t node);

}  // namespace reprise::detail
