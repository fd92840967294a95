// How transient buffers use the slab of a graph: their live ranges over node order or over the
// measured time of one replay, the peak and the buffers live at it, the slab bytes unused at the
// peak, and the buffers that alias. A buffer is live from its first access to its last. Threads:
// pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/replay_times.hpp"

namespace reprise::model {

// The live range of an accessed transient buffer, in node indices (half-open) or ns.
struct BufferSpan {
  std::uint32_t buffer = 0;
  trace::Time started = 0, ended = 0;
  std::uint64_t offset = 0, bytes = 0;
};

struct MemoryStep {
  trace::Time at = 0;
  std::uint64_t bytes = 0;  // live from here to the next step
};

struct MemoryUse {
  std::vector<BufferSpan> spans;  // by buffer
  std::vector<MemoryStep> steps;  // by time; the last has 0 bytes
  std::uint64_t peak_bytes = 0;   // peak_at: the first time at which it is reached
  trace::Time peak_at = 0;
  std::vector<std::uint32_t> live_at_peak;        // by size, largest first
  std::uint64_t slab_bytes = 0, waste_bytes = 0;  // waste: slab bytes not live at the peak
  std::uint64_t naive_bytes = 0;                  // total without aliasing
};

[[nodiscard]] MemoryUse memory_by_node_order(const Graph& graph);
// Nodes without a measured time use the estimate of replay_times().
[[nodiscard]] MemoryUse memory_by_time(const Graph& graph, const ReplayTimes& times);

// Groups of transient buffers whose slab ranges overlap, directly or transitively. Each group is
// ascending; groups are ordered by their first buffer. Buffers that alias no other are omitted.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> alias_groups(const Graph& graph);

}  // namespace reprise::model
