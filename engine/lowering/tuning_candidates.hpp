// The lowerings that tuning tries. A pure function; knows no device.
#pragma once

#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowering_config.hpp"

namespace reprise::detail {

// Priorities: of nodes, on devices that have them.
enum class DevicePriorities : std::uint8_t { No, Yes };

// Each once; none of them has `hints.costs` where these are empty, and all of them are legal.
[[nodiscard]] std::vector<LoweringConfig> tuning_candidates(const DependencyGraph& dependencies,
                                                            const NodeHints& hints,
                                                            DevicePriorities priorities);

}  // namespace reprise::detail
