// MemoryFacts: what the memory panel shows of the transient buffers of one graph, over schedule
// order or over the measured time of one replay: their spans, who shares bytes with whom, and who
// comes first. Knows no ImGui. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/memory_use.hpp"

namespace reprise::viewer {

struct MemoryViewModel {
  std::shared_ptr<const model::Graph> graph;
  bool is_measured = false;  // times are ns from the replay's begin; else nodes
  trace::Time length = 0;    // of the axis: nodes, or ns
  model::MemoryUse use;      // times from 0 to `length`
  std::vector<std::vector<std::uint32_t>>
      groups;  // of buffers that share bytes, directly or through others
  // A buffer each; kNone: none, or not a transient.
  std::vector<std::uint32_t> group, span, first_node;
  std::uint64_t least_bytes = 0, greatest_bytes = 0;  // of a span
  std::uint64_t shared_bytes = 0;  // what sharing saves: naive - slab, at least 0
};

[[nodiscard]] MemoryViewModel memory_view_model(std::shared_ptr<const model::Graph> graph);
// Of a replay with measured times.
[[nodiscard]] MemoryViewModel memory_view_model(std::shared_ptr<const model::Graph> graph,
                                                const model::ReplayTimes& times);

struct LiveBuffers {
  std::vector<std::uint32_t> buffers;  // most bytes first
  std::uint64_t bytes = 0;
};
[[nodiscard]] LiveBuffers live_at(const MemoryViewModel& view_model, trace::Time at);
// Bytes that are live at a moment, by the steps.
[[nodiscard]] std::uint64_t live_bytes_at(const MemoryViewModel& view_model, trace::Time at);

// Those whose bytes overlap this one's, ascending; without itself.
[[nodiscard]] std::vector<std::uint32_t> shares_bytes_with(const MemoryViewModel& view_model,
                                                           std::uint32_t buffer);

}  // namespace reprise::viewer
