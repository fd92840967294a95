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
  std::uint64_t naive_bytes = 0;                  // without sharing: as planned, or the sum
};

[[nodiscard]] MemoryUse memory_by_node_order(const Graph& graph);
// Nodes without a measured time use the estimate of replay_times().
[[nodiscard]] MemoryUse memory_by_time(const Graph& graph, const ReplayTimes& times);

// The transient buffers that determine the lower bound of the slab: the heaviest set of buffers of
// which no two can share bytes, because no edges order all uses of one before all uses of the
// other.
struct LowerBound {
  struct Item {
    std::uint32_t buffer = 0;
    // Bytes by which the lower bound decreases without the buffer: the most that shrinking or
    // splitting it can save. 0 if another set is as heavy.
    std::uint64_t saves = 0;
    bool is_known = false;  // `saves` was computed; only for the largest buffers
  };
  std::vector<Item> items;  // by size, largest first
  std::uint64_t bytes = 0;  // their total
  // False: the graph is too large, and these are the buffers live at the peak of the node order.
  bool is_exact = false;
};
[[nodiscard]] LowerBound lower_bound(const Graph& graph);

// Groups of transient buffers whose slab ranges overlap, directly or transitively. Each group is
// ascending; groups are ordered by their first buffer. Buffers that alias no other are omitted.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> alias_groups(const Graph& graph);

}  // namespace reprise::model
