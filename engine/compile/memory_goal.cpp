#include "compile/memory_goal.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "lowering/list_schedule.hpp"
#include "lowering/memory_aware_order.hpp"

namespace reprise::detail {

namespace {

// Min saving, and max number of transients of a graph, for which other_goals() gives advice.
constexpr std::uint64_t kMinSavedBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMaxAdvisedTransients = 4096;

bool allows_memory_goals(const Lowering& lowering) {
  return lowering.mode == Lowering::Mode::Auto || lowering.mode == Lowering::Mode::Lanes;
}

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

// Speed's graph and, for the other goals, candidates with fewer lanes.
class GoalSearch {
 public:
  GoalSearch(const Recording& recording, const DependencyGraph& dependencies, const GoalDesc& desc)
      : recording_(recording),
        dependencies_(dependencies),
        desc_(desc),
        best_(evaluate(build_lowered_graph(dependencies, desc.lowering, desc.hints))),
        speed_(best_.side),
        balanced_(best_.side) {}

  void run() {
    if (speed_.slab_bytes == 0) return;
    // First the lane assignments of Lowering::Lanes.
    try_lanes(max_lanes(),
              [this](std::uint32_t lanes) { return assign_lanes(dependencies_, lanes); });
    const std::uint32_t max = std::min(max_lanes(), width_lower_bound(dependencies_));
    for (const MemoryAwareOrder order : {MemoryAwareOrder::Recorded, MemoryAwareOrder::MinBytes}) {
      const std::vector<std::uint32_t> nodes = memory_aware_order(recording_, dependencies_, order);
      try_lanes(max, [&](std::uint32_t lanes) {
        return assign_lanes_in_order(dependencies_, nodes, lanes);
      });
    }
  }

  GoalResult result() && {
    if (desc_.budget.count() > 0) {
      best_.placement =
          place_transients(recording_, dependencies_, best_.lowered, desc_.alignment, desc_.budget);
      best_.side.slab_bytes = best_.placement.slab_bytes;
    }
    return {std::move(best_.lowered), std::move(best_.placement), {desc_.goal, speed_, best_.side}};
  }
  [[nodiscard]] const MemoryTradeoff::Side& speed() const { return speed_; }
  [[nodiscard]] const MemoryTradeoff::Side& balanced() const { return balanced_; }
  [[nodiscard]] const MemoryTradeoff::Side& best() const { return best_.side; }

 private:
  std::uint32_t max_lanes() const {
    return desc_.lowering.mode == Lowering::Mode::Lanes ? desc_.lowering.lanes : kAutoLanes;
  }

  // Considers 1, 2, 4 ... lanes, and `max`.
  template <class Assign>
  void try_lanes(std::uint32_t max, Assign assign) {
    max = std::max(1u, max);
    for (std::uint64_t lanes = 1; lanes < std::uint64_t{2} * max; lanes *= 2) {
      const auto allowed = static_cast<std::uint32_t>(std::min<std::uint64_t>(lanes, max));
      const LaneAssignment assignment = assign(allowed);
      LoweredGraph lowered = build_lanes(dependencies_, assignment, desc_.hints.works);
      lowered.fault_markers = desc_.lowering.fault_markers;
      consider(evaluate(std::move(lowered)));
      if (assignment.lanes < allowed) break;  // additional lanes remain unused
    }
  }

  Candidate evaluate(LoweredGraph lowered) const {
    Candidate candidate;
    candidate.lowered = std::move(lowered);
    candidate.placement =
        place_transients(recording_, dependencies_, candidate.lowered, desc_.alignment);
    candidate.side = side_of(candidate.lowered, candidate.placement);
    return candidate;
  }

  // Prefers fewer bytes, then a shorter critical path.
  void consider(Candidate candidate) {
    const MemoryTradeoff::Side& next = candidate.side;
    if (next.slab_bytes >= speed_.slab_bytes) return;
    const auto is_better_than = [&next](const MemoryTradeoff::Side& side) {
      return std::pair(next.slab_bytes, next.critical_path) <
             std::pair(side.slab_bytes, side.critical_path);
    };
    const bool is_balanced =
        std::uint64_t{4} * next.critical_path <= std::uint64_t{5} * speed_.critical_path;
    if (is_balanced && is_better_than(balanced_)) balanced_ = next;
    if ((is_balanced || desc_.goal == MemoryGoal::Minimum) && is_better_than(best_.side))
      best_ = std::move(candidate);
  }

  const Recording& recording_;
  const DependencyGraph& dependencies_;
  const GoalDesc& desc_;
  Candidate best_;
  MemoryTradeoff::Side speed_, balanced_;
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
  if (!allows_memory_goals(desc.lowering)) {
    ErrorDetails details;
    details.code = ErrorCode::InvalidArgument;
    details.stage = Stage::Lowering;
    throw Error(
        std::move(details),
        concat("MemoryGoal::", to_string(desc.goal),
               " adds edges between commands, which Lowering::", to_string(desc.lowering.mode),
               " does not allow; use Lowering::Auto or Lanes, or MemoryGoal::Speed"));
  }
  GoalSearch search(recording, dependencies, desc);
  search.run();
  return std::move(search).result();
}

std::optional<Message> other_goals(const Plan& plan, Lowering lowering, std::uint32_t alignment) {
  const MemoryTradeoff::Side now = side_of(plan.lowered, plan.placement);
  if (!allows_memory_goals(lowering) || now.slab_bytes < kMinSavedBytes ||
      plan.placement.buffers.size() > kMaxAdvisedTransients)
    return std::nullopt;
  GoalDesc desc{.goal = MemoryGoal::Minimum, .lowering = lowering, .alignment = alignment};
  desc.hints.works = plan.lowered.works;
  GoalSearch search(*plan.recording, plan.dependencies, desc);
  search.run();
  const auto text_of = [](const MemoryTradeoff::Side& side) {
    return concat(side.slab_bytes, " bytes (critical path: ", side.critical_path, " commands)");
  };
  if (search.best().slab_bytes + kMinSavedBytes > now.slab_bytes) return std::nullopt;
  Message message;
  message.severity = Severity::Info;
  message.id = "memory-goal";
  message.text = concat("the transient buffers of graph ", plan.label, " take ", text_of(now),
                        "; MemoryGoal::Balanced would take ", text_of(search.balanced()),
                        ", MemoryGoal::Minimum ", text_of(search.best()));
  return message;
}

}  // namespace reprise::detail
