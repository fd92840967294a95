// build_dependencies: turns accesses, barriers and user edges into the needed edges, each with its
// cause. Deterministic. Knows no device, no lanes and no memory. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

enum class Hazard : std::uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
// Captured: an edge of a native graph.
enum class CauseKind : std::uint8_t { Hazard, Barrier, User, Linear, Captured };

// Cause of an edge. If several exist, the lowest kind wins: hazards, then barriers, then user
// edges.
struct EdgeCause {
  CauseKind kind = CauseKind::Hazard;
  Hazard hazard = Hazard::ReadAfterWrite;  // set for kind Hazard
  std::uint32_t buffer = kNone;            // Hazard and buffer barriers: index in recording.buffers
  std::uint32_t barrier = kNone;           // Barrier: command index
  std::uint64_t begin = 0, end = 0;        // Hazard: conflicting bytes
};

struct Edge {
  std::uint32_t from = 0, to = 0;  // graph nodes, from < to
  EdgeCause cause;
};

// Node i runs command node_command[i]. Barriers are not nodes, with one exception: a barrier with
// many edges on both sides (k before, m after, k * m > 4 * (k + m)) remains as a join, a node
// without work.
struct DependencyGraph {
  // Graph node -> command, in topological order; ties by command index.
  std::vector<std::uint32_t> node_command;
  std::vector<std::uint8_t> is_join;  // 1: a join; node_command is its barrier
  // node_count() + 1 entries; edges into node n are edges[first_edge[n], first_edge[n + 1]).
  std::vector<std::uint32_t> first_edge;
  std::vector<Edge> edges;  // sorted by to, then from
  // Upper bound of the redundant edges that remain; 0 up to kExactReductionCommands.
  std::uint32_t redundant_edges_left = 0;
  [[nodiscard]] std::uint32_t node_count() const noexcept {
    return static_cast<std::uint32_t>(node_command.size());
  }
  [[nodiscard]] std::span<const Edge> edges_into(std::uint32_t node) const noexcept {
    return {edges.data() + first_edge[node], edges.data() + first_edge[node + 1]};
  }
};

inline constexpr std::uint32_t kExactReductionCommands = 20000;

// Throws CyclicDependency (Stage::Dependencies) naming the commands of one cycle of user edges.
[[nodiscard]] DependencyGraph build_dependencies(const Recording& recording);

}  // namespace reprise::detail
