// Which nodes of two versions of a graph, or of graphs of two traces, are the same: those of one
// name, label path and kind, the n-th such command of one with the n-th of the other. Lanes change
// the order of nodes and never that of commands. Threads: a pure function.
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // of a and b, by a
  std::vector<std::uint32_t> removed, added;                   // of a and of b alone, ascending
};

// A node each.
[[nodiscard]] NodeMatching match_nodes(const std::vector<NodeIdentity>& a,
                                       const std::vector<NodeIdentity>& b);

}  // namespace reprise::model
