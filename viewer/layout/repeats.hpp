// Finds equal nodes that can share a box: those that follow each other without other edges, and
// those of a rank. A pure function; n log n in nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

inline constexpr std::uint32_t kMinRepeats = 4;  // nodes per group

struct RepeatsDesc {
  // Per node, equal for equal nodes; kNoGroup: the node is never in a group.
  const std::vector<std::uint32_t>& kinds;
  std::uint32_t max_repeats = 256;  // nodes per group
};
// Returns the group of each node, from 0, or kNoGroup. The nodes of a group have equal kinds and
// are in the same group of `graph`; no group and other nodes depend on each other.
[[nodiscard]] std::vector<std::uint32_t> find_repeats(const LayoutGraph& graph,
                                                      const RepeatsDesc& desc);

}  // namespace reprise::viewer
