// lowering: adds nodes and edges that improve speed and leave correctness untouched: entry and exit
// kernels, and a list schedule into at most k lanes; or divides nodes into segments, each of which
// one kernel runs. Knows no device; measurements: engine/docs/design/lanes.md. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/types.hpp>

#include "dependencies/dependency_graph.hpp"
#include "lowering/entry_exit.hpp"
#include "lowering/segment.hpp"

namespace reprise::detail {

inline constexpr std::uint32_t kAutoLanes = 128;

struct LaneAssignment;
struct LoweringConfig;
struct NodeHints;

enum class LoweredKind : std::uint8_t { Work, Entry, Exit };
enum class EdgeOrigin : std::uint8_t { Needed, Lane, EntryExit };
// Early: a programmatic dependency. The node may start before its predecessor ends, and waits for
// that end itself before it accesses memory. It orders accesses like a full edge.
enum class EdgeStrength : std::uint8_t { Full, Programmatic };

struct LoweredEdge {
  std::uint32_t from = 0;  // index in LoweredGraph::nodes, lower than the target
  EdgeOrigin origin = EdgeOrigin::Needed;
  EdgeStrength strength = EdgeStrength::Full;
};

struct LoweredNode {
  LoweredKind kind = LoweredKind::Work;
  std::uint32_t dependency_node = kNone;         // only for Work
  std::uint32_t lane = 0;                        // 0 without lanes
  std::uint32_t first_edge = 0, edge_count = 0;  // in LoweredGraph::edges, in device order
};

// Nodes in creation order, which is topological. Creation and edge order affect the speed on CUDA:
// a node continues the lane of its first parent.
struct LoweredGraph {
  std::vector<LoweredNode> nodes;
  std::vector<LoweredEdge> edges;
  std::vector<std::uint32_t> node_of;  // dependency node -> index in nodes
  std::uint32_t lanes = 0;             // 0: no lanes
  EntryExit entry_exit;                // entry: nodes.front(); exit: nodes.back()
  std::vector<NodeWork> works;         // by dependency node; empty: all are kernels
  std::vector<Segment> segments;       // in creation order; their nodes run in one kernel each
  // By dependency node, as given to build_lowered_graph(); empty without segments.
  std::vector<std::uint32_t> segment_blocks;
  // In recording.buffers, for the body of a loop: one segment contains all nodes and repeats them
  // until they clear this condition. kNone: the graph runs once.
  std::uint32_t loop_condition = kNone;
  bool by_cost = false;           // costs determined the lanes or lists
  bool fault_markers = false;     // every Work node records its start and end
  std::uint32_t added_edges = 0;  // edges of origin Lane or EntryExit
  [[nodiscard]] std::span<const LoweredEdge> edges_into(std::uint32_t node) const noexcept {
    return {edges.data() + nodes[node].first_edge, nodes[node].edge_count};
  }
  // The index of the segment that contains a node; kNone: none does.
  [[nodiscard]] std::uint32_t segment_of(std::uint32_t node) const noexcept;
};

// Throws InvalidArgument (Stage::Lowering) for 0 or more than 65,535 lanes.
[[nodiscard]] LoweredGraph build_lowered_graph(const DependencyGraph& dependencies,
                                               Lowering lowering);
// With node hints: Auto uses known costs and programmatic starts. Auto and Persistent make segments
// of the nodes with blocks, if there are some. With a config: applies it as given; the config
// contains its costs.
[[nodiscard]] LoweredGraph build_lowered_graph(const DependencyGraph& dependencies,
                                               Lowering lowering, const NodeHints& hints);
[[nodiscard]] LoweredGraph build_lowered_graph(const DependencyGraph& dependencies,
                                               const LoweringConfig& config,
                                               const NodeHints& hints);

// Lowers a given lane assignment, which lists each dependency node once in a topological order.
// `works`: by dependency node; empty: all are kernels.
[[nodiscard]] LoweredGraph build_lanes(const DependencyGraph& dependencies,
                                       const LaneAssignment& assignment,
                                       std::span<const NodeWork> works = {});

// Throws Internal (Stage::Lowering) naming the first needed edge that the lowered graph does not
// imply, also within its segments (see check_segments()).
void check_lowered_graph(const DependencyGraph& dependencies, const LoweredGraph& lowered);

}  // namespace reprise::detail
