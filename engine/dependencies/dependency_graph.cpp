#include "dependencies/dependency_graph.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "dependencies/barriers.hpp"
#include "dependencies/describe.hpp"
#include "dependencies/graph_builder.hpp"
#include "dependencies/hazards.hpp"
#include "dependencies/topological_sort.hpp"
#include "dependencies/transitive_reduction.hpp"

namespace reprise::detail {

namespace {

// User edges that order commands, grouped by their waiting command. Backward edges in recorded
// order are kept separately.
class UserEdges {
 public:
  explicit UserEdges(const Recording& recording) {
    for (const UserEdge& edge : recording.edges) {
      for (const std::uint32_t command : {edge.before, edge.after})
        check_command(recording, command);
      if (edge.before == edge.after) throw_cycle(recording, std::span(&edge.before, 1));
      if (!recording.orders(edge.dependency, edge.after)) continue;
      (edge.before < edge.after ? forward_ : backward_).push_back({edge.before, edge.after});
    }
    std::stable_sort(forward_.begin(), forward_.end(),
                     [](const Pair& a, const Pair& b) { return a.after < b.after; });
  }

  // Called for commands in recorded order.
  void add_edges_into(std::uint32_t command, const std::vector<std::uint32_t>& node_of,
                      GraphBuilder& builder) {
    for (; next_ < forward_.size() && forward_[next_].after == command; ++next_)
      builder.add_edge(node_of[forward_[next_].before], kCause);
  }
  [[nodiscard]] std::vector<Edge> backward(const std::vector<std::uint32_t>& node_of) const {
    std::vector<Edge> edges;
    for (const Pair& pair : backward_)
      edges.push_back({node_of[pair.before], node_of[pair.after], kCause});
    return edges;
  }

 private:
  struct Pair {
    std::uint32_t before, after;
  };
  static constexpr EdgeCause kCause{.kind = CauseKind::User};

  static void check_command(const Recording& recording, std::uint32_t command) {
    if (command < recording.commands.size() &&
        recording.commands[command].kind != CommandKind::Barrier)
      return;
    ErrorDetails details;
    details.code = ErrorCode::InvalidArgument;
    details.stage = Stage::Dependencies;
    details.command = command;
    throw Error(
        details,
        concat("an edge of \"", recording.label, "\" names command ", command, ", which is ",
               command < recording.commands.size() ? "a barrier" : "not in the command buffer"));
  }

  std::vector<Pair> forward_, backward_;
  std::size_t next_ = 0;
};

// Collects every required edge, with joins for barriers. The result is in recorded order unless a
// user edge leads backward.
DependencyGraph collect(const Recording& recording) {
  const auto count = static_cast<std::uint32_t>(recording.commands.size());
  GraphBuilder builder;
  builder.reserve(count, recording.accesses.size());
  std::optional<HazardTracker> hazards;
  if (recording.ordering == Ordering::Inferred) hazards.emplace(recording);
  BarrierTracker barriers(recording, builder);
  UserEdges user_edges(recording);
  std::vector<std::uint32_t> node_of(count, kNone);
  for (std::uint32_t command = 0; command < count; ++command) {
    if (recording.commands[command].kind == CommandKind::Barrier) {
      barriers.add_barrier(command);
      continue;
    }
    const std::uint32_t node = node_of[command] = builder.begin_work(command);
    if (hazards) {
      for (const Conflict& conflict : hazards->visit(command))
        builder.add_edge(node_of[conflict.from], cause_of(conflict));
    }
    barriers.add_edges_into(command);
    user_edges.add_edges_into(command, node_of, builder);
    builder.end_node();
    barriers.add_accesses(command, node);
  }
  const std::vector<Edge> backward = user_edges.backward(node_of);
  DependencyGraph dependencies = builder.finish();
  return backward.empty() ? dependencies : order_topologically(recording, dependencies, backward);
}

DependencyGraph chain(const Recording& recording) {
  GraphBuilder builder;
  builder.reserve(recording.commands.size(), recording.commands.size());
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    if (recording.commands[command].kind == CommandKind::Barrier) continue;
    const std::uint32_t node = builder.begin_work(command);
    if (node != 0) builder.add_edge(node - 1, {.kind = CauseKind::Linear});
    builder.end_node();
  }
  std::vector<std::uint32_t> node_of(recording.commands.size(), kNone);
  DependencyGraph dependencies = builder.finish();
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node)
    node_of[dependencies.node_command[node]] = node;
  const std::vector<Edge> backward = UserEdges(recording).backward(node_of);
  return backward.empty() ? dependencies : order_topologically(recording, dependencies, backward);
}

// Assigns the join's barrier to edges at a join that have no barrier of their own.
void assign_barrier_causes(const Recording& recording, DependencyGraph& dependencies) {
  for (Edge& edge : dependencies.edges) {
    if (edge.cause.kind != CauseKind::Barrier || edge.cause.barrier != kNone) continue;
    edge.cause.barrier =
        dependencies.node_command[dependencies.is_join[edge.from] != 0 ? edge.from : edge.to];
    edge.cause.buffer = recording.payload<BarrierPayload>(edge.cause.barrier).buffer;
  }
}

}  // namespace

DependencyGraph build_dependencies(const Recording& recording) {
  if (recording.ordering == Ordering::Linear) return chain(recording);
  DependencyGraph dependencies = collect(recording);
  if (dependencies.node_count() > 0 &&
      std::find(dependencies.is_join.begin(), dependencies.is_join.end(), 1) !=
          dependencies.is_join.end()) {
    reduce(dependencies, ReduceScope::EdgesOfJoins);
    dependencies = drop_joins(dependencies);
  }
  reduce(dependencies);
  assign_barrier_causes(recording, dependencies);
  return dependencies;
}

}  // namespace reprise::detail
