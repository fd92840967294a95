// What is known of the nodes of a schedule, and one way of lowering it, as tuning tries them, keeps
// them and writes them down. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <reprise/types.hpp>

#include "dependencies/dependency_graph.hpp"
#include "lowering/entry_exit.hpp"

namespace reprise::detail {

// Early: a kernel that waits itself for what it comes after.
enum class NodeStart : std::uint8_t { NoKernel, Ordered, Early };

struct NodeHints {
  std::vector<std::uint32_t> costs;  // ns, by schedule node; empty: nothing is known
  std::uint32_t measured = 0, hinted = 0,
                guessed = 0;  // nodes with a cost that was measured, of those without one that is
                              // hinted, and neither
  std::vector<NodeStart> starts;  // by schedule node; empty: none is early
  std::vector<NodeWork> works;    // by schedule node; empty: all are kernels
};

// Microseconds as costs are kept, at most what 32 bits of nanoseconds hold.
[[nodiscard]] std::uint32_t cost_ns(double microseconds) noexcept;

// What was measured (ns, by schedule node, kNone: it was not; empty: nothing), and where it was not
// what the recording says. Nodes without either have the median of those that have one; joins take
// no time.
[[nodiscard]] NodeHints hints_of(const Recording& recording, const DependencyGraph& dependencies,
                                 std::span<const std::uint32_t> measured = {});

// True if hints_of() would tell more than what nodes are, or order depends on which start early:
// then a plan follows from more than structure.
[[nodiscard]] bool has_hints(const Recording& recording);

struct LoweringConfig {
  enum class Shape : std::uint8_t {
    Faithful,   // the needed edges
    EntryExit,  // with the halves of a frame that pay
    Lanes,      // in lanes, all nodes costing the same
    CostBased   // in lanes, by `costs`
  } shape = Shape::Faithful;
  std::uint32_t lanes = 0;  // of Lanes and CostBased
  std::vector<std::uint32_t> costs =
      {};  // ns, by schedule node; of CostBased and of priorities; empty: all the same
  enum class Priorities : std::uint8_t { Same, LongestWayFirst } priorities = Priorities::Same;
  enum class Starts : std::uint8_t {
    Declared,
    Ordered
  } starts = Starts::Declared;  // Declared: early where nodes say that they wait themselves

  friend bool operator==(const LoweringConfig&, const LoweringConfig&) = default;
};

// "lanes 16 by cost, priorities"; what reports call it.
[[nodiscard]] std::string name_of(const LoweringConfig& choice);

// What Lowering::Auto makes of a schedule. By costs where the graph is wider than it may have
// lanes, or where many nodes wait for several others.
[[nodiscard]] LoweringConfig automatic_config(const DependencyGraph& dependencies,
                                              const NodeHints& hints);

}  // namespace reprise::detail
