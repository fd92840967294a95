#include "plan/memory_goal.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

#include "lowering/list_schedule.hpp"
#include "lowering/memory_aware_order.hpp"

namespace reprise::detail {

namespace {

struct Candidate {
  LoweredGraph lowered;
  Placement placement;
  MemoryTradeoff::Side side;
};

std::uint32_t critical_path(const LoweredGraph& lowered) {
  std::vector<std::uint32_t> length(lowered.nodes.size(), 0);
  std::uint32_t longest = 0;
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    for (const LoweredEdge& edge : lowered.edges_into(node))
      length[node] = std::max(length[node], length[edge.from]);
    length[node] += lowered.nodes[node].kind == LoweredKind::Work ? 1 : 0;
    longest = std::max(longest, length[node]);
  }
  return longest;
}

class GoalSearch {
 public:
  GoalSearch(const Recording& recording, const DependencyGraph& dependencies, const GoalDesc& desc)
      : recording_(recording),
        dependencies_(dependencies),
        desc_(desc),
        best_(evaluate(build_lowered_graph(dependencies, desc.lowering, desc.hints))),
        speed_(best_.side) {}

  GoalResult run() {
    if (speed_.slab_bytes != 0) {
      const std::uint32_t max = max_lanes();
      for (const MemoryAwareOrder order :
           {MemoryAwareOrder::Recorded, MemoryAwareOrder::MinBytes}) {
        const std::vector<std::uint32_t> nodes =
            memory_aware_order(recording_, dependencies_, order);
        for (std::uint32_t lanes = 1; lanes < 2 * max; lanes *= 2) {
          const LaneAssignment assignment =
              assign_lanes_in_order(dependencies_, nodes, std::min(lanes, max));
          LoweredGraph lowered = build_lanes(dependencies_, assignment, desc_.hints.works);
          lowered.fault_markers = desc_.lowering.fault_markers;
          consider(evaluate(std::move(lowered)));
          if (assignment.lanes < std::min(lanes, max)) break;  // additional lanes remain unused
        }
      }
    }
    if (desc_.budget.count() > 0) {
      best_.placement =
          place_transients(recording_, dependencies_, best_.lowered, desc_.alignment, desc_.budget);
      best_.side.slab_bytes = best_.placement.slab_bytes;
    }
    return {std::move(best_.lowered), std::move(best_.placement), {desc_.goal, speed_, best_.side}};
  }

 private:
  std::uint32_t max_lanes() const {
    const std::uint32_t allowed =
        desc_.lowering.mode == Lowering::Mode::Lanes ? desc_.lowering.lanes : kAutoLanes;
    return std::max(1u, std::min(allowed, width_lower_bound(dependencies_)));
  }

  Candidate evaluate(LoweredGraph lowered) const {
    Candidate candidate;
    candidate.lowered = std::move(lowered);
    candidate.placement =
        place_transients(recording_, dependencies_, candidate.lowered, desc_.alignment);
    candidate.side = side_of(candidate.lowered, candidate.placement);
    return candidate;
  }

  bool is_allowed(const MemoryTradeoff::Side& side) const {
    switch (desc_.goal) {
      case MemoryGoal::Speed: return false;
      case MemoryGoal::Balanced:
        return std::uint64_t{4} * side.critical_path <= std::uint64_t{5} * speed_.critical_path;
      case MemoryGoal::Minimum: break;
    }
    return true;
  }

  // Prefers fewer bytes, then a shorter critical path.
  void consider(Candidate candidate) {
    const MemoryTradeoff::Side &best = best_.side, &next = candidate.side;
    if (next.slab_bytes >= speed_.slab_bytes || !is_allowed(next)) return;
    if (std::pair(next.slab_bytes, next.critical_path) <
        std::pair(best.slab_bytes, best.critical_path))
      best_ = std::move(candidate);
  }

  const Recording& recording_;
  const DependencyGraph& dependencies_;
  const GoalDesc& desc_;
  Candidate best_;
  MemoryTradeoff::Side speed_;
};

}  // namespace

MemoryTradeoff::Side side_of(const LoweredGraph& lowered, const Placement& placement) {
  return {placement.slab_bytes, critical_path(lowered), lowered.lanes};
}

GoalResult lower_for_goal(const Recording& recording, const DependencyGraph& dependencies,
                          const GoalDesc& desc) {
  if (desc.goal == MemoryGoal::Speed) {
    GoalResult result{build_lowered_graph(dependencies, desc.lowering, desc.hints), {}, {}};
    result.placement =
        place_transients(recording, dependencies, result.lowered, desc.alignment, desc.budget);
    return result;
  }
  if (desc.lowering.mode == Lowering::Mode::Faithful) {
    ErrorDetails details;
    details.code = ErrorCode::InvalidArgument;
    details.stage = Stage::Lowering;
    throw Error(std::move(details),
                "a MemoryGoal other than Speed adds edges between commands, and Lowering::Faithful "
                "adds none");
  }
  return GoalSearch(recording, dependencies, desc).run();
}

}  // namespace reprise::detail
