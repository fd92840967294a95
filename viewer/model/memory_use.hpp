// What transient buffers do to the slab of a graph: who is live when, over schedule order or over
// the measured time of one replay; where most bytes are live and which buffers those are; bytes of
// the slab that nobody uses then; and who shares bytes with whom. A buffer is live from its first
// access to its last one. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/replay_times.hpp"

namespace reprise::model {

// A transient buffer that somebody uses. Times are nodes, the end one behind the last, or ns.
struct BufferSpan {
  std::uint32_t buffer = 0;
  trace::Time began = 0, ended = 0;
  std::uint64_t offset = 0, bytes = 0;
};

struct MemoryStep {
  trace::Time at = 0;
  std::uint64_t bytes = 0;  // live from here to the next step
};

struct MemoryUse {
  std::vector<BufferSpan> spans;  // by buffer
  std::vector<MemoryStep> steps;  // by time; the last has 0 bytes
  std::uint64_t peak_bytes = 0;   // the first moment at which most is live
  trace::Time peak_at = 0;
  std::vector<std::uint32_t> live_at_peak;        // buffers, most bytes first
  std::uint64_t slab_bytes = 0, waste_bytes = 0;  // waste: of the slab, not live at the peak
  std::uint64_t naive_bytes = 0;                  // without sharing
};

[[nodiscard]] MemoryUse memory_by_schedule(const Graph& graph);
// Where a node's accesses have no measured time, those of replay_times() stand in.
[[nodiscard]] MemoryUse memory_by_time(const Graph& graph, const ReplayTimes& times);

// Transient buffers whose bytes in the slab overlap, directly or through others: each group
// ascending, groups by first buffer. A buffer that shares with nobody is in none.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> alias_groups(const Graph& graph);

}  // namespace reprise::model
