// The candidate lowerings of tuning. Knows no device. Threads: pure functions.
#pragma once

#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowering_config.hpp"

namespace reprise::detail {

// Returns distinct, valid configs. Cost-based configs require `hints.costs`, segments
// `hints.segment_blocks`.
[[nodiscard]] std::vector<LoweringConfig> tuning_candidates(const DependencyGraph& dependencies,
                                                            const NodeHints& hints);

}  // namespace reprise::detail
