// TimingLayout: numbers all nodes of a plan, including those of bodies, and assigns the time slots
// of one replay. The plan's own nodes come first, in lowered order. The nodes of its bodies follow,
// body by body in lowered order: first the bodies of the plan's nodes, then the bodies nested in
// them, level by level. All components identify nodes by these numbers. A node that runs once has
// one slot. A node in a loop has one slot per timed iteration; further iterations are counted but
// not timed. Knows no device. Threads: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/types.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

// A body of one node.
struct BodyLayout {
  enum class Kind : std::uint8_t { Nested, Then, Else, Loop, Case } kind = Kind::Nested;
  std::uint32_t owner = kNone;  // the body that contains the node; kNone: the plan itself
  std::uint32_t parent = 0;     // the node
  std::uint32_t branch = 0;     // index among the node's bodies
  std::uint32_t first_node = 0, nodes = 0;
  // The slot of the body, which counts iterations. The slots of its nodes follow, by iteration.
  std::uint32_t first_slot = 0;
  std::uint32_t kept = 1;  // iterations per replay that have slots
  friend bool operator==(const BodyLayout&, const BodyLayout&) = default;

  [[nodiscard]] std::size_t slot(std::uint32_t node, std::size_t iteration) const noexcept {
    return first_slot + 1 + iteration * nodes + node;
  }
};

struct TimingLayout {
  // Limits: slots of all nodes in loops, and timed iterations of one body.
  static constexpr std::uint32_t kMaxSlots = 1u << 14, kMaxIterations = 1024;

  std::uint32_t own_nodes = 0;  // nodes of the plan itself; they have the first slots
  std::uint32_t nodes = 0;      // including the bodies
  std::size_t slots = 0;
  std::vector<BodyLayout> bodies;  // by parent, then branch; owners precede nested bodies
  friend bool operator==(const TimingLayout&, const TimingLayout&) = default;

  // True if nodes and bodies are equal, regardless of the time slots.
  [[nodiscard]] bool has_same_nodes(const TimingLayout& other) const noexcept;
  // Index in `bodies` of the first body of a node.
  [[nodiscard]] std::uint32_t first_body(std::uint32_t parent) const noexcept;
  // The body that contains a node; kNone for a node of the plan itself.
  [[nodiscard]] std::uint32_t body_of(std::uint32_t node) const noexcept;
  // The plan's own node that is or contains `node`.
  [[nodiscard]] std::uint32_t own_node_of(std::uint32_t node) const noexcept;
};

[[nodiscard]] TimingLayout timing_layout(const Plan& plan);
// The plans of timing_layout(plan).bodies; valid as long as `plan`.
[[nodiscard]] std::vector<const Plan*> body_plans(const Plan& plan);

}  // namespace reprise::detail
