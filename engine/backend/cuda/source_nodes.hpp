// SourceNodes: the nodes of the graph that an executable was made from, and which of them say
// something else than the executable does, because it was told alone. For an update of everything
// these and those that are different now are told, and cudaGraphExecUpdate takes the rest: nothing
// is made anew. Knows no CUDA. Threads: as its owner says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/exec_update.hpp"

namespace reprise::detail {

class SourceNodes {
 public:
  // Of a graph that says what its executable does, and has so many lowered nodes.
  void reset(std::size_t nodes) { is_behind_.assign(nodes, 0); }

  // The executable alone was told. Allocates nothing.
  void note_told(std::span<const std::uint32_t> nodes) noexcept {
    for (const std::uint32_t node : nodes) is_behind_[node] = 1;
  }
  void note_all_told() noexcept { is_behind_.assign(is_behind_.size(), 1); }
  // The graph says what the executable does again.
  void note_same() noexcept { is_behind_.assign(is_behind_.size(), 0); }

  // Those that have to be told before the graph says what `change` is about: lowered nodes,
  // ascending. Empty where some of them can't be told, or it is not known which they are.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> to_tell(const PlanChange& change) const;

 private:
  std::vector<std::uint8_t> is_behind_;  // by lowered node
};

}  // namespace reprise::detail
