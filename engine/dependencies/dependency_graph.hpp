// schedule: turns accesses, barriers and user edges into the edges that are needed, each with its
// cause. A pure function: const in, value out, deterministic. Knows no device, no lanes, no memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

enum class Hazard : std::uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
// Captured: of a graph that CUDA captured or the application made.
enum class CauseKind : std::uint8_t { Hazard, Barrier, User, Linear, Captured };

// Why an edge exists. The first cause found is kept: hazards before barriers before user edges.
struct EdgeCause {
  CauseKind kind = CauseKind::Hazard;
  Hazard hazard = Hazard::ReadAfterWrite;  // of Hazard
  std::uint32_t buffer = kNone;      // of Hazard and of a Barrier on a buffer: in recording.buffers
  std::uint32_t barrier = kNone;     // of Barrier: command index
  std::uint64_t begin = 0, end = 0;  // bytes that conflict, of Hazard
};

struct Edge {
  std::uint32_t from = 0, to = 0;  // schedule nodes, from < to
  EdgeCause cause;
};

// Node i runs command node_command[i]. Barriers are no nodes, with one exception: where a barrier
// would need more edges through it than around it (k before, m after, k * m > 4 * (k + m)), it
// stays as a join, a node that runs nothing.
struct DependencyGraph {
  std::vector<std::uint32_t>
      node_command;  // schedule node -> command; a topological order, ties by command index
  std::vector<std::uint8_t> is_join;      // 1: node_command is a barrier that stayed as a join
  std::vector<std::uint32_t> first_edge;  // node_count() + 1; edges into node n are
                                          // edges[first_edge[n], first_edge[n + 1])
  std::vector<Edge> edges;                // sorted by to, then from
  std::uint32_t redundant_edges_left =
      0;  // at most so many edges are implied by others; 0 up to kExactReductionCommands
  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(node_command.size());
  }
  [[nodiscard]] std::span<const Edge> edges_into(std::uint32_t node) const noexcept {
    return {edges.data() + first_edge[node], edges.data() + first_edge[node + 1]};
  }
};

inline constexpr std::uint32_t kExactReductionCommands = 20000;

// Throws CyclicDependency (Stage::DependencyGraph) naming the commands of one cycle that user edges
// close.
[[nodiscard]] DependencyGraph build_dependencies(const Recording& recording);

}  // namespace reprise::detail
