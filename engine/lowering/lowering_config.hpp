// NodeHints: known properties of the nodes of a dependency graph. LoweringConfig: one lowering, as
// tuning tries and stores it. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <reprise/types.hpp>

#include "dependencies/dependency_graph.hpp"
#include "lowering/entry_exit.hpp"

namespace reprise::detail {

// Programmatic: a kernel that waits for its predecessors itself.
enum class NodeStart : std::uint8_t { NoKernel, Ordered, Programmatic };

struct NodeHints {
  std::vector<std::uint32_t> costs;  // ns, by dependency node; empty: unknown
  // Number of nodes by origin of their cost: measured, else declared by the dispatch, else
  // estimated.
  std::uint32_t measured = 0, hinted = 0, guessed = 0;
  std::vector<NodeStart> starts;  // by dependency node; empty: none is programmatic
  std::vector<NodeWork> works;    // by dependency node; empty: all are kernels
  // For Lowering::Auto and Persistent: see segment_blocks(). Empty: no segments.
  std::vector<std::uint32_t> segment_blocks;
  std::uint32_t segment_lists = 1;  // of one segment at most
  // Segments have no lists until schedule_segment() is called with their relations.
  bool schedules_later = false;
  // Up to this number of lists, each has a multiprocessor to itself. A waiting list slows down one
  // that it shares a multiprocessor with.
  std::uint32_t undisturbed_lists = kNone;
};

// Converts microseconds to nanoseconds, clamped to 32 bits.
[[nodiscard]] std::uint32_t cost_ns(double microseconds) noexcept;

// Collects hints: measured costs (ns, by dependency node, kNone: not measured; empty: none),
// otherwise the declared costs of dispatches. Nodes without a cost get the median of the known
// ones; joins cost 0.
[[nodiscard]] NodeHints hints_of(const Recording& recording, const DependencyGraph& dependencies,
                                 std::span<const std::uint32_t> measured = {});

// True if the recording declares costs, programmatic starts or programmatic dependencies. The plan
// then depends on more than structure.
[[nodiscard]] bool has_hints(const Recording& recording);

struct LoweringConfig {
  enum class Shape : std::uint8_t {
    Faithful,   // needed edges only
    EntryExit,  // worthwhile entry and exit kernels
    Lanes,      // lanes by unit costs
    CostBased,  // lanes by `costs`
    Segments    // segments of at most `lanes` lists by `costs`
  } shape = Shape::Faithful;
  std::uint32_t lanes = 0;  // only for Lanes, CostBased and Segments
  // ns, by dependency node; for CostBased and Segments; empty: equal costs.
  std::vector<std::uint32_t> costs = {};
  // Declared: programmatic where the dispatches declare so.
  enum class Starts : std::uint8_t { Declared, Ordered } starts = Starts::Declared;

  friend bool operator==(const LoweringConfig&, const LoweringConfig&) = default;
};

// The name in reports: "lanes 16 by cost".
[[nodiscard]] std::string name_of(const LoweringConfig& config);

// The config of Lowering::Auto. Schedules by cost if the graph is wider than the lane limit or many
// nodes have several parents.
[[nodiscard]] LoweringConfig automatic_config(const DependencyGraph& dependencies,
                                              const NodeHints& hints);

}  // namespace reprise::detail
