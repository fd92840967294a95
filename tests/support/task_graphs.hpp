// Graphs that programs have, as lists of parents: what lowering is measured and counted with. The
// same arguments give the same graph on every machine. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {

struct TaskGraph {
  std::string name;
  std::vector<std::vector<std::uint32_t>>
      parents;  // by node: lower than itself, ascending, none of them implied by another
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(parents.size()); }
  [[nodiscard]] std::uint64_t edges() const;
  [[nodiscard]] std::uint32_t depth() const;  // nodes of the longest way
};

// "chain", "cholesky", "sparse-32" (layers of 32, a node behind 3 of the layer before)...
[[nodiscard]] std::span<const std::string_view> task_graph_names();
// Of about so many nodes; of more where the shape has none so small, as two layers of 128. Throws
// std::invalid_argument naming the shapes.
[[nodiscard]] TaskGraph make_task_graph(std::string_view name, std::uint32_t nodes);

}  // namespace reprise::test
