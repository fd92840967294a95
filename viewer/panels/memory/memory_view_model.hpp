// MemoryViewModel: the transient buffers of one graph over execution order or over the measured
// time of one replay: live ranges, aliasing and live bytes. Independent of ImGui. Threads: values
// and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/memory_use.hpp"

namespace reprise::viewer {

struct MemoryViewModel {
  std::shared_ptr<const model::Graph> graph;
  bool is_measured = false;  // true: times are ns since replay start; false: node indices
  trace::Time length = 0;    // of the axis, in nodes or ns
  model::MemoryUse use;      // times from 0 to `length`
  std::vector<std::vector<std::uint32_t>> groups;  // alias groups, transitive
  // Per buffer: alias group, span and first node; kNone if absent or not a transient.
  std::vector<std::uint32_t> group, span, first_node;
  std::uint64_t min_bytes = 0, max_bytes = 0;  // of the spans
  std::uint64_t saved_bytes = 0;               // unshared minus slab, at least 0
};

[[nodiscard]] MemoryViewModel memory_view_model(std::shared_ptr<const model::Graph> graph);
// Over the measured times of one replay.
[[nodiscard]] MemoryViewModel memory_view_model(std::shared_ptr<const model::Graph> graph,
                                                const model::ReplayTimes& times);

struct LiveBuffers {
  std::vector<std::uint32_t> buffers;  // largest first
  std::uint64_t bytes = 0;
};
[[nodiscard]] LiveBuffers live_at(const MemoryViewModel& view_model, trace::Time at);
// Live bytes at a time, from MemoryUse::steps.
[[nodiscard]] std::uint64_t live_bytes_at(const MemoryViewModel& view_model, trace::Time at);

// Buffers whose bytes overlap those of `buffer`, ascending, without `buffer`.
[[nodiscard]] std::vector<std::uint32_t> aliasing_buffers(const MemoryViewModel& view_model,
                                                          std::uint32_t buffer);

}  // namespace reprise::viewer
