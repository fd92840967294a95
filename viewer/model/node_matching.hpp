// Pairs the nodes of two versions of a graph, or of graphs of two traces: by name, label path and
// kind; among equals, the n-th command of one with the n-th of the other. The order of commands
// does not depend on lane assignment. Threads: a pure function.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/records.hpp"

namespace reprise::model {

struct NodeIdentity {
  std::string name, label_path;
  trace::NodeKind kind = trace::NodeKind::Other;
  std::uint32_t command = trace::kNone;
};

struct NodeMatching {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // (a, b), ordered by a
  std::vector<std::uint32_t> removed, added;  // unmatched nodes of a and of b, ascending
};

// `a` and `b` hold one entry per node.
[[nodiscard]] NodeMatching match_nodes(const std::vector<NodeIdentity>& a,
                                       const std::vector<NodeIdentity>& b);

}  // namespace reprise::model
