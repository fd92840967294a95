// TimingLayout: all nodes of a plan, those that its commands run in bodies included, and where the
// times of one replay of them go. The plan's own nodes come first, by their places in the lowered
// graph; behind them those of its bodies, body by body, each in the order of its own lowered graph:
// the bodies of the plan's nodes, then those that these hold, and so on. By these numbers everybody
// names nodes. A node that runs once has one slot. One in a loop has a slot for each of so many
// rounds as there is room for: what is beyond has no time, and is counted. Knows no device.
// Threads: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/types.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

// One recording that one node runs.
struct BodyPlace {
  enum class Kind : std::uint8_t { Nested, Then, Else, Loop, Case } kind = Kind::Nested;
  std::uint32_t owner = kNone;  // the body that the node is in; kNone: the plan itself
  std::uint32_t parent = 0;     // the node
  std::uint32_t branch = 0;     // which of the node's bodies
  std::uint32_t first_node = 0, nodes = 0;
  std::uint32_t first_slot =
      0;  // of the body itself, which counts its rounds; those of its nodes follow, round by round
  std::uint32_t kept = 1;  // rounds of a replay whose nodes have slots
  friend bool operator==(const BodyPlace&, const BodyPlace&) = default;

  [[nodiscard]] std::size_t slot(std::uint32_t node, std::size_t round) const noexcept {
    return first_slot + 1 + round * nodes + node;
  }
};

struct TimingLayout {
  // What a replay's times of nodes in loops take at most, and how many rounds of one body at most.
  static constexpr std::uint32_t kMostSlots = 1u << 14, kMostRounds = 1024;

  std::uint32_t own_nodes = 0;  // of the plan itself: their slots are the first
  std::uint32_t nodes = 0;      // of everything
  std::size_t slots = 0;
  std::vector<BodyPlace> bodies;  // by parent, then branch; an owner comes before what it owns
  friend bool operator==(const TimingLayout&, const TimingLayout&) = default;

  // The nodes and bodies are the same, whatever is kept of their times.
  [[nodiscard]] bool has_same_nodes(const TimingLayout& other) const noexcept;
  // Index in `bodies` of the first body of a node.
  [[nodiscard]] std::uint32_t first_body(std::uint32_t parent) const noexcept;
  // The body that a node is in; kNone for one of the plan itself.
  [[nodiscard]] std::uint32_t body_of(std::uint32_t node) const noexcept;
  // The plan's own node that it runs in, itself perhaps.
  [[nodiscard]] std::uint32_t own_node_of(std::uint32_t node) const noexcept;
};

[[nodiscard]] TimingLayout timing_layout(const Plan& plan);
// The plans of timing_layout(plan).bodies, which live as long as `plan`.
[[nodiscard]] std::vector<const Plan*> plans_of_bodies(const Plan& plan);

}  // namespace reprise::detail
