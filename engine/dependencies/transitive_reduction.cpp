#include "dependencies/transitive_reduction.hpp"

#include <limits>

#include "dependencies/ancestors.hpp"
#include "dependencies/graph_builder.hpp"

namespace reprise::detail {

namespace {

// Mean number of visits per edge beyond kExactReductionCommands.
constexpr std::uint64_t kMeanVisitsPerEdge = 24;

// Number of edges that visit_ancestors may follow per block.
std::uint64_t edge_budget_for(std::uint64_t nodes, std::uint64_t edges) {
  if (nodes <= kExactReductionCommands) return std::numeric_limits<std::uint64_t>::max();
  return kMeanVisitsPerEdge * kAncestorBlock * (edges / nodes + 1);
}

enum class Mark : std::uint8_t { Needed, Unknown, Redundant };

}  // namespace

void reduce(DependencyGraph& dependencies, ReduceScope scope) {
  const std::uint32_t count = dependencies.node_count();
  std::vector<std::uint32_t> from(dependencies.edges.size());
  for (std::size_t e = 0; e < from.size(); ++e) from[e] = dependencies.edges[e].from;
  const ForwardGraph graph{dependencies.first_edge, from};

  // A path from parent p to another parent q enters q from p or from a node after p. Therefore only
  // edges from nodes up to the highest grandparent can be redundant.
  std::vector<Mark> marks;
  std::vector<std::uint32_t> last_query;
  std::uint32_t unknown = 0;
  for (std::uint32_t node = 0; node < count; ++node) {
    const std::span<const std::uint32_t> parents = graph.parents(node);
    if (parents.size() < 2) continue;
    std::uint32_t reach = 0;  // one more than the highest grandparent
    for (const std::uint32_t parent : parents) {
      if (const auto grandparents = graph.parents(parent); !grandparents.empty())
        reach = std::max(reach, grandparents.back() + 1);
    }
    for (std::size_t i = 0; i < parents.size() && parents[i] < reach; ++i) {
      if (scope == ReduceScope::EdgesOfJoins && dependencies.is_join[parents[i]] == 0 &&
          dependencies.is_join[node] == 0)
        continue;
      if (marks.empty()) {
        marks.resize(from.size(), Mark::Needed);
        last_query.resize(count, 0);
      }
      marks[dependencies.first_edge[node] + i] = Mark::Unknown;
      last_query[parents[i]] = node;
      ++unknown;
    }
  }
  dependencies.redundant_edges_left = 0;
  if (unknown == 0) return;

  visit_ancestors(graph, last_query, edge_budget_for(count, from.size()),
                  [&](std::uint32_t node, std::uint32_t begin, const AncestorSet& ancestors) {
                    for (std::uint32_t e = dependencies.first_edge[node];
                         e < dependencies.first_edge[node + 1]; ++e) {
                      if (marks[e] != Mark::Unknown || from[e] - begin >= kAncestorBlock) continue;
                      marks[e] =
                          ancestors.contains(from[e] - begin) ? Mark::Redundant : Mark::Needed;
                      --unknown;
                    }
                  });
  dependencies.redundant_edges_left = unknown;

  std::uint32_t kept = 0;
  for (std::uint32_t node = 0, e = 0; node < count; ++node) {
    const std::uint32_t end = dependencies.first_edge[node + 1];
    dependencies.first_edge[node] = kept;
    for (; e < end; ++e) {
      if (marks[e] != Mark::Redundant) dependencies.edges[kept++] = dependencies.edges[e];
    }
  }
  dependencies.first_edge[count] = kept;
  dependencies.edges.resize(kept);
}

namespace {

// The cause of an edge that bypasses a join: the one of its two edges that names the barrier.
EdgeCause bypass_cause(const EdgeCause& in, const EdgeCause& out) {
  return in.barrier != kNone ? in : out;
}

}  // namespace

DependencyGraph drop_joins(const DependencyGraph& dependencies) {
  const std::uint32_t count = dependencies.node_count();
  std::vector<std::uint64_t> edges_out(count, 0);
  for (const Edge& edge : dependencies.edges) ++edges_out[edge.from];

  struct Replacement {
    std::uint32_t node = kNone;        // the new node, if it is kept
    std::size_t first = 0, count = 0;  // otherwise its in-edges, in `dropped`
  };
  std::vector<Replacement> replacement(count);
  std::vector<Edge> dropped;
  GraphBuilder builder;
  builder.reserve(count, dependencies.edges.size());
  for (std::uint32_t node = 0; node < count; ++node) {
    const bool is_join = dependencies.is_join[node] != 0;
    const std::uint32_t new_node = is_join ? builder.begin_join(dependencies.node_command[node])
                                           : builder.begin_work(dependencies.node_command[node]);
    for (const Edge& edge : dependencies.edges_into(node)) {
      const Replacement& source = replacement[edge.from];
      if (source.node != kNone) builder.add_edge(source.node, edge.cause);
      for (std::size_t i = 0; i < source.count; ++i) {
        const Edge& before = dropped[source.first + i];
        builder.add_edge(before.from, bypass_cause(before.cause, edge.cause));
      }
    }
    const std::span<const Edge> in = builder.edges_into(new_node);
    const std::uint64_t k = in.size(), m = edges_out[node];
    if (!is_join || k * m > 4 * (k + m)) {
      replacement[node].node = new_node;
      builder.end_node();
    } else {
      replacement[node] = {kNone, dropped.size(), in.size()};
      dropped.insert(dropped.end(), in.begin(), in.end());
      builder.drop_node();
    }
  }
  return builder.finish();
}

}  // namespace reprise::detail
