// Task graphs of common program shapes as parent lists, for measurements of lowering. Deterministic
// across platforms. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {

struct TaskGraph {
  std::string name;
  // By node: ascending, lower than the node, without redundant edges.
  std::vector<std::vector<std::uint32_t>> parents;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(parents.size()); }
  [[nodiscard]] std::uint64_t edges() const;
  [[nodiscard]] std::uint32_t depth() const;  // number of nodes of the longest path
};

// "chain", "cholesky", "sparse-32" (layers of 32; a node follows 3 of the previous layer), ...
[[nodiscard]] std::span<const std::string_view> task_graph_names();
// A graph of about `nodes` nodes, or of the smallest size of its shape (two layers of 128). Throws
// std::invalid_argument listing the shapes.
[[nodiscard]] TaskGraph make_task_graph(std::string_view name, std::uint32_t nodes);

}  // namespace reprise::test
