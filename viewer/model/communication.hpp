// Communication: the time of collectives in one replay, and its part without other work of the
// graph, which lengthens the replay. Threads: values and pure functions.
#pragma once

#include "model/graph.hpp"

namespace reprise::model {

struct Communication {
  std::uint64_t replay = 0;
  trace::Time total = 0;    // union of the collectives' times, ns
  trace::Time exposed = 0;  // part of it during which no other node of the graph runs
  [[nodiscard]] trace::Time overlapped() const noexcept { return total - exposed; }
  friend bool operator==(const Communication&, const Communication&) = default;
};

// Entry, exit and join nodes, and nodes that run a body, are no work; the nodes of bodies are.
[[nodiscard]] Communication communication(const Graph& graph, const trace::SampleBlock& block);

}  // namespace reprise::model
