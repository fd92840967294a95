// Executions of collectives, from the samples of a trace. Threads: values and pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// The same on all ranks that take part in one execution.
struct CollectiveKey {
  std::uint64_t communicator = 0, number = 0, replay = 0;  // see Collective
  std::uint32_t index = 0, occurrence = 0;
  friend auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

struct CollectiveRun {
  CollectiveKey key;
  std::uint32_t collective = 0;  // index in GraphVersion::collectives
  Time started = 0, ended = 0;
  friend bool operator==(const CollectiveRun&, const CollectiveRun&) = default;
};

// The executions of one replay with known times, by start. `block` must belong to `graph`.
[[nodiscard]] std::vector<CollectiveRun> collective_runs(const GraphVersion& graph,
                                                         const SampleBlock& block);

// Whether every rank of the communicator waits in it for all others.
[[nodiscard]] constexpr bool waits_for_all(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
         kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
}

}  // namespace reprise::trace
