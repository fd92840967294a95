// The longest way through a graph whose nodes take time, and how much later each node could end without making it longer.
// A pure function; linear in edges.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

struct CriticalPath {
  std::vector<std::uint32_t> nodes;  // from a source to a sink; where several are as long, the smaller nodes
  double length = 0;                 // the sum of their weights
  std::vector<double> slack;         // a node each; zero on every longest way, up to rounding
};

// `weights`: a node each, none below zero, in any unit. Throws std::invalid_argument where there are not as many.
[[nodiscard]] CriticalPath critical_path(const LayoutGraph& graph, const std::vector<double>& weights);

}  // namespace reprise::viewer
