// Chains of kernels, and the calls of a program that instantiates and launches them, for tests of
// ObservedProgram. Threads: one.
#pragma once

#include <cstdint>
#include <utility>

#include "injection/traced.hpp"

namespace reprise::test {

using detail::ObservedGraph;
using detail::ObservedNode;
using detail::ObservedProgram;
using Outstanding = detail::ObservedExec::Outstanding;

inline constexpr std::uint64_t kExec = 0xe0, kOtherExec = 0xe1, kStream = 0x70000;
inline constexpr std::uint32_t kProfilerId = 4;

inline ObservedNode kernel_node(std::uint32_t number) {
  ObservedNode node;
  node.kind = trace::NodeKind::Dispatch;
  node.kernel = 0;
  node.grid[0] = node.grid[1] = node.grid[2] = 1;
  node.handle = 0x900 + number;
  node.number = number;
  node.recorded = ObservedNode::Recorded::EachReplay;
  return node;
}

// A chain of kernels.
inline ObservedGraph chain(std::uint32_t nodes) {
  ObservedGraph graph;
  graph.kernels.push_back({"_Z3addPf", 16, 0});
  for (std::uint32_t i = 0; i < nodes; ++i) {
    graph.nodes.push_back(kernel_node(i));
    if (i > 0) graph.edges.push_back({i - 1, i});
  }
  return graph;
}

inline void instantiate(ObservedProgram& program, ObservedGraph graph, std::uint64_t exec = kExec) {
  program.instantiated(
      {.exec = exec, .profiler_id = kProfilerId, .device = 0, .started = 100, .at = 150},
      std::move(graph));
}

inline void launch(ObservedProgram& program, std::uint32_t correlation,
                   ObservedProgram::Nodes nodes = ObservedProgram::Nodes::Unrecorded,
                   std::uint64_t exec = kExec) {
  static_cast<void>(program.launched({.exec = exec,
                                      .stream = kStream,
                                      .thread = 7,
                                      .started = 200,
                                      .returned = 205,
                                      .correlation = correlation},
                                     nodes));
}

inline detail::ObservedRun run_of(std::uint32_t number, std::uint32_t correlation,
                                  trace::Time started) {
  return {(std::uint64_t{kProfilerId} << 32) | number,
          correlation,
          1,
          started,
          started + 10,
          "_Z3addPf"};
}

}  // namespace reprise::test
