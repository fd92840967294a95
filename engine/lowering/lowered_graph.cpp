#include "lowering/lowered_graph.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <reprise/error.hpp>

#include "base/huge_pages.hpp"
#include "lowering/cost_schedule.hpp"
#include "lowering/list_schedule.hpp"
#include "lowering/lowering_config.hpp"
#include "lowering/node_attributes.hpp"

namespace reprise::detail {

std::uint32_t LoweredGraph::segment_of(std::uint32_t node) const noexcept {
  const auto next = std::upper_bound(
      segments.begin(), segments.end(), node,
      [](std::uint32_t of, const Segment& segment) { return of < segment.first_node; });
  if (next == segments.begin() || !std::prev(next)->contains(node)) return kNone;
  return static_cast<std::uint32_t>(next - segments.begin()) - 1;
}

namespace {

constexpr std::uint32_t kMaxLanes = 65535;

// Builds a lowered graph node by node, with the entry and exit kernels that are worthwhile.
class GraphWriter {
 public:
  GraphWriter(const DependencyGraph& dependencies, std::size_t max_work_edges,
              std::span<const NodeWork> works) {
    graph_.works.assign(works.begin(), works.end());
    reserve_huge(graph_.nodes, dependencies.node_count() + 2);
    reserve_huge(graph_.edges, max_work_edges);
    graph_.node_of.assign(dependencies.node_count(), kNone);
  }

  // Called before any node. `ends` describes the graph without entry and exit kernels.
  void add_entry(const GraphEnds& ends) {
    graph_.entry_exit = choose_entry_exit(ends);
    const auto edges = [](bool is_added, const GraphSide& side) {
      return is_added ? side.kernels + side.full_kernels : 0;
    };
    graph_.edges.reserve(graph_.edges.capacity() + edges(graph_.entry_exit.entry, ends.roots) +
                         edges(graph_.entry_exit.exit, ends.leaves));
    if (graph_.entry_exit.entry) begin_node(LoweredKind::Entry, kNone, 0);
  }
  void begin_work(std::uint32_t dependency_node, std::uint32_t lane) {
    graph_.node_of[dependency_node] = static_cast<std::uint32_t>(graph_.nodes.size());
    begin_node(LoweredKind::Work, dependency_node, lane);
  }
  void add_edge(std::uint32_t from_dependency_node, EdgeOrigin origin) {
    add_lowered_edge(graph_.node_of[from_dependency_node], origin);
  }
  // Called after the last edge of a node.
  void end_work() {
    if (graph_.entry_exit.entry && graph_.nodes.back().edge_count == 0 &&
        runs_kernel(graph_.nodes.back()))
      add_lowered_edge(0, EdgeOrigin::EntryExit);
  }
  LoweredGraph finish(std::uint32_t lanes) {
    if (graph_.entry_exit.exit) add_exit();
    graph_.lanes = lanes;
    return std::move(graph_);
  }
  // Edges into a work node that has been started.
  [[nodiscard]] std::span<const LoweredEdge> edges_into(std::uint32_t dependency_node) const {
    return graph_.edges_into(graph_.node_of[dependency_node]);
  }
  [[nodiscard]] std::uint32_t dependency_node(std::uint32_t node) const {
    return graph_.nodes[node].dependency_node;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& node_of() const { return graph_.node_of; }

 private:
  [[nodiscard]] bool runs_kernel(const LoweredNode& node) const {
    return graph_.works.empty() ||
           (node.dependency_node != kNone && is_kernel(graph_.works[node.dependency_node]));
  }
  void begin_node(LoweredKind kind, std::uint32_t dependency_node, std::uint32_t lane) {
    graph_.nodes.push_back(
        {kind, dependency_node, lane, static_cast<std::uint32_t>(graph_.edges.size()), 0});
  }
  void add_lowered_edge(std::uint32_t from, EdgeOrigin origin) {
    graph_.edges.push_back({from, origin});
    ++graph_.nodes.back().edge_count;
    graph_.added_edges += origin == EdgeOrigin::Needed ? 0 : 1;
  }
  void add_exit() {
    std::vector<std::uint8_t> has_child(graph_.nodes.size(), 0);
    for (const LoweredEdge& edge : graph_.edges) has_child[edge.from] = 1;
    // The exit kernel joins the lane of the leaf that was created last; the other leaves are likely
    // to finish earlier.
    std::vector<std::uint32_t> leaves;
    for (std::uint32_t node = static_cast<std::uint32_t>(has_child.size()); node-- > 0;) {
      if (has_child[node] == 0 && runs_kernel(graph_.nodes[node])) leaves.push_back(node);
    }
    begin_node(LoweredKind::Exit, kNone, graph_.nodes[leaves.front()].lane);
    for (const std::uint32_t leaf : leaves) add_lowered_edge(leaf, EdgeOrigin::EntryExit);
  }

  LoweredGraph graph_;
};

LoweredGraph build_faithful(const DependencyGraph& dependencies, std::span<const NodeWork> works) {
  GraphWriter writer(dependencies, dependencies.edges.size(), works);
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    writer.begin_work(node, 0);
    for (const Edge& edge : dependencies.edges_into(node))
      writer.add_edge(edge.from, EdgeOrigin::Needed);
    writer.end_work();
  }
  return writer.finish(0);
}

LoweredGraph build_with_entry_exit(const DependencyGraph& dependencies,
                                   std::span<const NodeWork> works) {
  GraphWriter writer(dependencies, dependencies.edges.size(), works);
  writer.add_entry(count_ends(dependencies, {}, works));
  const std::vector<std::uint32_t> preferred = preferred_parents(dependencies);
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    writer.begin_work(node, 0);
    if (preferred[node] != kNone) writer.add_edge(preferred[node], EdgeOrigin::Needed);
    for (const Edge& edge : dependencies.edges_into(node)) {
      if (edge.from != preferred[node]) writer.add_edge(edge.from, EdgeOrigin::Needed);
    }
    writer.end_work();
  }
  return writer.finish(0);
}

LoweredGraph build_persistent(const DependencyGraph& dependencies, const NodeHints& hints) {
  GraphWriter writer(dependencies, dependencies.edges.size(), hints.works);
  const SegmentPartition partition = partition_into_segments(dependencies, hints.segment_blocks);
  for (const std::uint32_t node : partition.order) {
    writer.begin_work(node, 0);
    for (const Edge& edge : dependencies.edges_into(node))
      writer.add_edge(edge.from, EdgeOrigin::Needed);
  }
  LoweredGraph graph = writer.finish(0);
  for (const auto& [first, nodes] : partition.segments)
    graph.segments.push_back(hints.schedules_later ? Segment{.first_node = first, .nodes = nodes}
                                                   : schedule_segment(graph, hints, first, nodes));
  graph.segment_blocks = hints.segment_blocks;
  graph.by_cost = !hints.costs.empty() && !graph.segments.empty();
  return graph;
}

// For the current node: the latest position in each lane that its edges order before it.
class LatestPositions {
 public:
  explicit LatestPositions(std::uint32_t lanes) : entries_(lanes) {}
  void next_node() { ++timestamp_; }
  void raise(std::uint32_t lane, std::uint32_t position) {
    Entry& entry = entries_[lane];
    if (entry.timestamp != timestamp_ || entry.position < position) entry = {timestamp_, position};
  }
  [[nodiscard]] bool reaches(std::uint32_t lane, std::uint32_t position) const {
    return entries_[lane].timestamp == timestamp_ && entries_[lane].position >= position;
  }

 private:
  struct Entry {
    std::uint32_t timestamp = 0, position = 0;
  };
  std::vector<Entry> entries_;
  std::uint32_t timestamp_ = 0;
};

// For each finished node: the number of nodes in each lane that are ordered before it. Disabled if
// the table would be large.
class ReachedPositions {
 public:
  ReachedPositions(std::uint32_t nodes, std::uint32_t lanes) : lanes_(lanes) {
    if (std::uint64_t{nodes} * lanes > kMaxEntries) return;
    reached_.resize(std::size_t{nodes} * lanes, 0);
    kept_for_.resize(nodes, kNone);
  }
  [[nodiscard]] bool is_enabled() const { return !reached_.empty(); }
  // Records that `parent` and all of its predecessors precede `node`.
  void add(std::uint32_t node, std::uint32_t parent, const LaneAssignment& assignment) {
    std::uint32_t* const to = row(node);
    const std::uint32_t* const from = row(parent);
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) to[lane] = std::max(to[lane], from[lane]);
    std::uint32_t& own = to[assignment.lane[parent]];
    own = std::max(own, assignment.position[parent] + 1);
  }
  // Removes parents that precede other parents or earlier added predecessors, and records the rest
  // as predecessors of `node`. `creation_index` orders nodes by creation.
  void remove_implied(std::uint32_t node, const LaneAssignment& assignment,
                      const std::vector<std::uint32_t>& creation_index,
                      std::vector<std::uint32_t>& parents) {
    latest_first_ = parents;
    std::sort(latest_first_.begin(), latest_first_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return creation_index[a] > creation_index[b];
    });
    const auto is_implied = [&](std::uint32_t parent) {
      return row(node)[assignment.lane[parent]] > assignment.position[parent];
    };
    for (const std::uint32_t parent : latest_first_) {
      if (is_implied(parent)) continue;
      add(node, parent, assignment);
      kept_for_[parent] = node;
    }
    std::erase_if(parents, [&](std::uint32_t parent) { return kept_for_[parent] != node; });
  }

 private:
  static constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 22;
  [[nodiscard]] std::uint32_t* row(std::uint32_t node) {
    return reached_.data() + std::size_t{node} * lanes_;
  }
  std::uint32_t lanes_;
  std::vector<std::uint32_t> reached_;                  // by node and lane
  std::vector<std::uint32_t> kept_for_, latest_first_;  // scratch; kept_for_ is by node
};

}  // namespace

LoweredGraph build_lanes(const DependencyGraph& dependencies, const LaneAssignment& assignment,
                         std::span<const NodeWork> works) {
  GraphWriter writer(dependencies, dependencies.edges.size() + dependencies.node_count(), works);
  writer.add_entry(count_ends(dependencies, assignment.before, works));

  LatestPositions implied(assignment.lanes), direct(assignment.lanes);
  ReachedPositions reached(dependencies.node_count(), assignment.lanes);
  std::vector<std::uint32_t> direct_parents;
  for (const std::uint32_t node : assignment.order) {
    const std::uint32_t before = assignment.before[node];
    const auto parents = dependencies.edges_into(node);
    implied.next_node();
    direct.next_node();
    bool before_is_parent = false;
    for (const Edge& edge : parents) {
      direct.raise(assignment.lane[edge.from], assignment.position[edge.from]);
      before_is_parent |= edge.from == before;
    }
    writer.begin_work(node, assignment.lane[node]);
    if (before != kNone) {
      writer.add_edge(before, before_is_parent ? EdgeOrigin::Needed : EdgeOrigin::Lane);
      implied.raise(assignment.lane[before], assignment.position[before]);
      if (reached.is_enabled()) reached.add(node, before, assignment);
      for (const LoweredEdge& edge : writer.edges_into(before)) {
        const std::uint32_t parent = writer.dependency_node(edge.from);
        if (parent != kNone) implied.raise(assignment.lane[parent], assignment.position[parent]);
      }
    }
    direct_parents.clear();
    for (const Edge& edge : parents) {
      const std::uint32_t lane = assignment.lane[edge.from],
                          position = assignment.position[edge.from];
      if (!implied.reaches(lane, position) && !direct.reaches(lane, position + 1))
        direct_parents.push_back(edge.from);
    }
    if (reached.is_enabled())
      reached.remove_implied(node, assignment, writer.node_of(), direct_parents);
    for (const std::uint32_t parent : direct_parents) writer.add_edge(parent, EdgeOrigin::Needed);
    writer.end_work();
  }
  return writer.finish(assignment.lanes);
}

namespace {

LoweredGraph build(const DependencyGraph& dependencies, const Lowering& lowering,
                   std::span<const NodeWork> works) {
  switch (lowering.mode) {
    case Lowering::Mode::Faithful:
    case Lowering::Mode::Persistent: return build_faithful(dependencies, works);
    case Lowering::Mode::Auto:
      if (width_lower_bound(dependencies) <= kAutoLanes)
        return build_with_entry_exit(dependencies, works);
      return build_lanes(dependencies, assign_lanes(dependencies, kAutoLanes), works);
    case Lowering::Mode::Lanes: break;
  }
  if (lowering.lanes == 0 || lowering.lanes > kMaxLanes) {
    ErrorDetails details;
    details.code = ErrorCode::InvalidArgument;
    details.stage = Stage::Lowering;
    throw Error(std::move(details), "Lowering::Lanes takes 1 to " + std::to_string(kMaxLanes) +
                                        " lanes, not " + std::to_string(lowering.lanes));
  }
  return build_lanes(dependencies, assign_lanes(dependencies, lowering.lanes), works);
}

// Without known costs, all nodes cost nothing but the launch latency.
std::vector<std::uint32_t> costs_of(const DependencyGraph& dependencies,
                                    const LoweringConfig& config) {
  return config.costs.size() == dependencies.node_count()
             ? config.costs
             : std::vector<std::uint32_t>(dependencies.node_count(), 0);
}

LoweredGraph build(const DependencyGraph& dependencies, const LoweringConfig& config,
                   std::span<const NodeWork> works) {
  switch (config.shape) {
    case LoweringConfig::Shape::Faithful: return build_faithful(dependencies, works);
    case LoweringConfig::Shape::EntryExit: return build_with_entry_exit(dependencies, works);
    case LoweringConfig::Shape::Lanes:
      return build(dependencies, Lowering::Lanes(config.lanes), works);
    case LoweringConfig::Shape::CostBased:
    case LoweringConfig::Shape::Segments: break;
  }
  LoweredGraph graph = build_lanes(dependencies,
                                   assign_lanes_by_cost(dependencies, std::max(config.lanes, 1u),
                                                        costs_of(dependencies, config)),
                                   works);
  graph.by_cost = !config.costs.empty();
  return graph;
}

}  // namespace

LoweredGraph build_lowered_graph(const DependencyGraph& dependencies, Lowering lowering) {
  LoweredGraph graph = build(dependencies, lowering, {});
  graph.fault_markers = lowering.fault_markers;
  return graph;
}

LoweredGraph build_lowered_graph(const DependencyGraph& dependencies, Lowering lowering,
                                 const NodeHints& hints) {
  const bool may_have_segments =
      lowering.mode == Lowering::Mode::Persistent || lowering.mode == Lowering::Mode::Auto;
  if (may_have_segments && !hints.segment_blocks.empty()) {
    LoweredGraph graph = build_persistent(dependencies, hints);
    graph.fault_markers = lowering.fault_markers;
    return graph;
  }
  const bool uses_costs = lowering.mode == Lowering::Mode::Auto && !hints.costs.empty();
  LoweredGraph graph = uses_costs
                           ? build(dependencies, automatic_config(dependencies, hints), hints.works)
                           : build(dependencies, lowering, hints.works);
  graph.fault_markers = lowering.fault_markers;
  if (lowering.mode != Lowering::Mode::Faithful) mark_programmatic_edges(hints.starts, graph);
  return graph;
}

LoweredGraph build_lowered_graph(const DependencyGraph& dependencies, const LoweringConfig& config,
                                 const NodeHints& hints) {
  if (config.shape == LoweringConfig::Shape::Segments) {
    NodeHints of_config = hints;
    of_config.segment_lists = config.lanes;
    of_config.costs.clear();
    if (config.costs.size() == dependencies.node_count()) of_config.costs = config.costs;
    return build_persistent(dependencies, of_config);
  }
  LoweredGraph graph = build(dependencies, config, hints.works);
  if (config.starts == LoweringConfig::Starts::Declared)
    mark_programmatic_edges(hints.starts, graph);
  return graph;
}

}  // namespace reprise::detail
