// lanes: adds what costs no correctness and buys speed: a frame before several roots and after many
// leaves, and a list schedule into at most k lanes. A pure function; knows no device. The numbers
// behind it are in engine/README.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/types.hpp>

#include "dependencies/dependency_graph.hpp"
#include "lowering/entry_exit.hpp"

namespace reprise::detail {

inline constexpr std::uint32_t kAutoLanes = 128;
inline constexpr std::uint8_t kMostUrgent = 5;

struct LaneAssignment;
struct LoweringConfig;
struct NodeHints;

enum class LoweredKind : std::uint8_t { Work, Entry, Exit };
enum class EdgeOrigin : std::uint8_t { Needed, Lane, EntryExit };
// Early: the node may start before the one it comes from has ended, and waits for that end itself
// before it touches memory. It orders what the nodes do as any other edge.
enum class EdgeStrength : std::uint8_t { Full, Early };

struct LoweredEdge {
  std::uint32_t from = 0;  // in LoweredGraph::nodes, always lower than the node that it leads to
  EdgeOrigin origin = EdgeOrigin::Needed;
  EdgeStrength strength = EdgeStrength::Full;
};

struct LoweredNode {
  LoweredKind kind = LoweredKind::Work;
  std::uint32_t dependency_node = kNone;  // of Work
  std::uint32_t lane = 0;                 // 0 where there are no lanes
  std::uint32_t first_edge = 0,
                edge_count =
                    0;  // in LoweredGraph::edges, in the order that they are given to the device
  std::uint8_t priority = 0;  // the higher, the sooner its blocks get a place where there is none
                              // for all; up to kMostUrgent
};

// Nodes in creation order, which is topological. Creation and edge order decide the speed on CUDA:
// a node goes on in the lane of its first-added parent.
struct LoweredGraph {
  std::vector<LoweredNode> nodes;
  std::vector<LoweredEdge> edges;
  std::vector<std::uint32_t> node_of;  // schedule node -> index in nodes
  std::uint32_t lanes = 0;             // 0: faithful
  EntryExit entry_exit;                // begin: nodes.front(); end: nodes.back()
  std::vector<NodeWork> works;  // by schedule node, as the frame was put by; empty: all are kernels
  bool by_cost = false;         // lanes were assigned by costs
  bool fault_markers = false;   // every Work node notes its begin and end
  std::uint32_t added_edges = 0;  // of origin Lane or Frame
  [[nodiscard]] std::span<const LoweredEdge> edges_into(std::uint32_t node) const noexcept {
    return {edges.data() + nodes[node].first_edge, nodes[node].edge_count};
  }
};

// Throws InvalidArgument (Stage::Lanes) for 0 or more than 65,535 lanes.
[[nodiscard]] LoweredGraph build_lowered_graph(const DependencyGraph& dependencies,
                                               Lowering lowering);
// The same, Auto taking into account what is known of the nodes; and by a choice that was made
// before, which names costs itself.
[[nodiscard]] LoweredGraph build_lowered_graph(const DependencyGraph& dependencies,
                                               Lowering lowering, const NodeHints& hints);
[[nodiscard]] LoweredGraph build_lowered_graph(const DependencyGraph& dependencies,
                                               const LoweringConfig& choice,
                                               const NodeHints& hints);

// The graph of lanes that somebody assigned; `assignment` names each schedule node once, in a
// topological order. `works`: by schedule node; empty: all are kernels.
[[nodiscard]] LoweredGraph build_lanes(const DependencyGraph& dependencies,
                                       const LaneAssignment& assignment,
                                       std::span<const NodeWork> works = {});

// Throws Internal (Stage::Lanes) naming the first needed edge that the lowered graph does not
// imply.
void check_lowered_graph(const DependencyGraph& dependencies, const LoweredGraph& lowered);

}  // namespace reprise::detail
