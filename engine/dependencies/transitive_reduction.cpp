#include "dependencies/transitive_reduction.hpp"

#include <limits>

#include "dependencies/ancestors.hpp"
#include "dependencies/graph_builder.hpp"

namespace reprise::detail {

namespace {

// How often each edge may be followed on the average, beyond kExactReductionCommands.
constexpr std::uint64_t kVisitsOfAnEdge = 24;

// Edges that each block of nodes may be followed over.
std::uint64_t allowance_for(std::uint64_t nodes, std::uint64_t edges) {
  if (nodes <= kExactReductionCommands) return std::numeric_limits<std::uint64_t>::max();
  return kVisitsOfAnEdge * kAncestorBlock * (edges / nodes + 1);
}

enum class Mark : std::uint8_t { Needed, Open, Implied };

}  // namespace

void reduce(DependencyGraph& dependencies, ReduceScope scope) {
  const std::uint32_t count = dependencies.node_count();
  std::vector<std::uint32_t> from(dependencies.edges.size());
  for (std::size_t e = 0; e < from.size(); ++e) from[e] = dependencies.edges[e].from;
  const ForwardGraph graph{dependencies.first_edge, from};

  // A path from p over another parent q comes in to q from p or from a node after p. So only edges
  // from nodes up to the highest parent of a parent are open.
  std::vector<Mark> marks;
  std::vector<std::uint32_t> last_asked;
  std::uint32_t open = 0;
  for (std::uint32_t node = 0; node < count; ++node) {
    const std::span<const std::uint32_t> parents = graph.parents(node);
    if (parents.size() < 2) continue;
    std::uint32_t reach = 0;  // one more than the highest
    for (const std::uint32_t parent : parents) {
      if (const auto above = graph.parents(parent); !above.empty())
        reach = std::max(reach, above.back() + 1);
    }
    for (std::size_t i = 0; i < parents.size() && parents[i] < reach; ++i) {
      if (scope == ReduceScope::EdgesOfJoins && dependencies.is_join[parents[i]] == 0 &&
          dependencies.is_join[node] == 0)
        continue;
      if (marks.empty()) {
        marks.resize(from.size(), Mark::Needed);
        last_asked.resize(count, 0);
      }
      marks[dependencies.first_edge[node] + i] = Mark::Open;
      last_asked[parents[i]] = node;
      ++open;
    }
  }
  dependencies.redundant_edges_left = 0;
  if (open == 0) return;

  visit_ancestors(graph, last_asked, allowance_for(count, from.size()),
                  [&](std::uint32_t node, std::uint32_t begin, const AncestorSet& further) {
                    for (std::uint32_t e = dependencies.first_edge[node];
                         e < dependencies.first_edge[node + 1]; ++e) {
                      if (marks[e] != Mark::Open || from[e] - begin >= kAncestorBlock) continue;
                      marks[e] = further.contains(from[e] - begin) ? Mark::Implied : Mark::Needed;
                      --open;
                    }
                  });
  dependencies.redundant_edges_left = open;

  std::uint32_t kept = 0;
  for (std::uint32_t node = 0, e = 0; node < count; ++node) {
    const std::uint32_t end = dependencies.first_edge[node + 1];
    dependencies.first_edge[node] = kept;
    for (; e < end; ++e) {
      if (marks[e] != Mark::Implied) dependencies.edges[kept++] = dependencies.edges[e];
    }
  }
  dependencies.first_edge[count] = kept;
  dependencies.edges.resize(kept);
}

namespace {

// The barrier of the way through a join: one of the two edges names it.
EdgeCause through(const EdgeCause& in, const EdgeCause& out) {
  return in.barrier != kNone ? in : out;
}

}  // namespace

DependencyGraph drop_joins(const DependencyGraph& dependencies) {
  const std::uint32_t count = dependencies.node_count();
  std::vector<std::uint64_t> edges_out(count, 0);
  for (const Edge& edge : dependencies.edges) ++edges_out[edge.from];

  struct Around {
    std::uint32_t node = kNone;        // where the node stays
    std::size_t first = 0, count = 0;  // where it does not: what leads into it
  };
  std::vector<Around> around(count);
  std::vector<Edge> dropped;
  GraphBuilder builder;
  builder.reserve(count, dependencies.edges.size());
  for (std::uint32_t node = 0; node < count; ++node) {
    const bool is_join = dependencies.is_join[node] != 0;
    const std::uint32_t made = is_join ? builder.begin_join(dependencies.node_command[node])
                                       : builder.begin_work(dependencies.node_command[node]);
    for (const Edge& edge : dependencies.edges_into(node)) {
      const Around& source = around[edge.from];
      if (source.node != kNone) builder.add_edge(source.node, edge.cause);
      for (std::size_t i = 0; i < source.count; ++i) {
        const Edge& before = dropped[source.first + i];
        builder.add_edge(before.from, through(before.cause, edge.cause));
      }
    }
    const std::span<const Edge> in = builder.edges_into(made);
    const std::uint64_t k = in.size(), m = edges_out[node];
    if (!is_join || k * m > 4 * (k + m)) {
      around[node].node = made;
      builder.end_node();
    } else {
      around[node] = {kNone, dropped.size(), in.size()};
      dropped.insert(dropped.end(), in.begin(), in.end());
      builder.drop_node();
    }
  }
  return builder.finish();
}

}  // namespace reprise::detail
