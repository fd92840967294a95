// Converts an observed graph to a trace record: names, scopes, edges, and the accesses of nodes to
// the program's memory. Threads: a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "injection/observed_graph.hpp"
#include "injection/program_memory.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

struct ObservedIdentity {
  std::uint32_t graph = 0, device = 0;
  std::string label;
  trace::Time instantiated = 0, instantiate_time = 0;
  const CallFrame* stack = nullptr;  // of the instantiating thread
};

// Of each access of each node, in order: the allocation that contains it, if one does.
using AccessLocations = std::vector<std::optional<ProgramMemory::Location>>;
[[nodiscard]] AccessLocations locate_accesses(const ObservedGraph& graph,
                                              const ProgramMemory& memory);

// A name for a graph that was instantiated in no range: the outermost label, if all labelled nodes
// share it; otherwise its characteristic kernel, as in "add_gelu_0 and 12 others". Kernels that are
// neither elementwise nor copies characterise a graph, and of these the most frequent one.
[[nodiscard]] std::string graph_label(const ObservedGraph& graph);

// `number` of its collectives is 0, and they state no ranks.
[[nodiscard]] trace::GraphVersion describe_observed_graph(
    const ObservedGraph& graph, const ObservedIdentity& identity, const AccessLocations& locations,
    const std::vector<LaunchCount>& launches = {});

// The parameters of a node in one line.
[[nodiscard]] std::string describe_observed_node(const ObservedGraph& graph, std::uint32_t node);

}  // namespace reprise::detail
