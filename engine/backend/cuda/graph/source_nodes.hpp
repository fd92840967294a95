// SourceNodes: tracks which nodes of an executable's source graph differ from the executable,
// because only the executable was updated. A whole update sets these nodes and the changed ones in
// the source graph and passes it to cudaGraphExecUpdate, without building a new graph; or sets the
// nodes in the executable, if cudaGraphExecUpdate refuses the graph. Knows no CUDA. Threads: as its
// owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/exec_update.hpp"

namespace reprise::detail {

// True if cudaGraphExecUpdate refuses every graph of the recording.
[[nodiscard]] bool has_copies_refused_in_graphs(const Recording& recording);

// The lowered nodes, ascending, to set in an executable for `change`: those that differ, and those
// with resources of a single plan. Empty if bodies are among them or the changed nodes are unknown.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> nodes_to_set(const PlanChange& change);

class SourceNodes {
 public:
  // For a new source graph of `nodes` lowered nodes, which equals its executable.
  void reset(std::size_t nodes) { differs_.assign(nodes, 0); }

  // Marks nodes that were updated in the executable only. Does not allocate.
  void mark_updated(std::span<const std::uint32_t> nodes) noexcept {
    for (const std::uint32_t node : nodes) differs_[node] = 1;
  }
  void mark_all_updated() noexcept { differs_.assign(differs_.size(), 1); }
  // The source graph equals the executable again.
  void mark_equal() noexcept { differs_.assign(differs_.size(), 0); }

  // The lowered nodes, ascending, to set in the source graph for `change`. Empty if some of them
  // cannot be set or if the changed nodes are unknown.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> nodes_to_update(
      const PlanChange& change) const;

 private:
  std::vector<std::uint8_t> differs_;  // by lowered node
};

}  // namespace reprise::detail
