#include "model/sync_costs.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "model/critical_path.hpp"

namespace reprise::model {

namespace {

// Two nodes in a new schedule that lets them overlap: the time by which both together shorten.
class Overlap {
 public:
  Overlap(const std::vector<double>& durations, const std::vector<double>& demand)
      : durations_(durations), demand_(demand) {}

  [[nodiscard]] double of(std::uint32_t u, std::uint32_t v) const {
    const double a = durations_[u], b = durations_[v];
    return a + b - std::max({a, b, a * demand_[u] + b * demand_[v]});
  }

 private:
  const std::vector<double>&durations_, &demand_;
};

// The longest path that keeps the order which only edge e implies, but lets its nodes overlap. A
// join does no work: an edge into it orders the nodes behind it, and vice versa.
double relaxed_path(const Graph& graph, const LongestPaths& paths, const Overlap& overlap,
                    std::uint32_t e) {
  const auto [u, v] = std::pair(graph.record().edges[e].from, graph.record().edges[e].to);
  const auto is_join = [&](std::uint32_t n) {
    return graph.record().nodes[n].kind == trace::NodeKind::Join;
  };
  double longest = 0;
  if (is_join(v) && !is_join(u) && !graph.successors(v).empty()) {
    for (const Neighbour& s : graph.successors(v))
      longest = std::max(longest, paths.until[u] + paths.from[s.node] - overlap.of(u, s.node));
  } else if (is_join(u) && !is_join(v) && !graph.predecessors(u).empty()) {
    for (const Neighbour& p : graph.predecessors(u))
      longest = std::max(longest, paths.until[p.node] + paths.from[v] - overlap.of(p.node, v));
  } else {
    longest = paths.until[u] + paths.from[v] - overlap.of(u, v);
  }
  return longest;
}

// Every path crosses the cut between nodes t and t + 1 at most once, because edges lead forward.
// Hence the longest path without a critical edge out of t is the longest among the paths that cross
// the cut by another edge, end before the cut, or start after it.
void find_edge_costs(const Graph& graph, const LongestPaths& paths, const Overlap& overlap,
                     SyncCosts& costs) {
  const std::uint32_t count = graph.node_count();
  const auto& edges = graph.record().edges;
  const auto through = [&](std::uint32_t e) {
    return paths.until[edges[e].from] + paths.from[edges[e].to];
  };
  for (std::uint32_t e = 0; e < edges.size(); ++e)
    costs.edges[e].is_critical = through(e) >= paths.length * (1 - 1e-12);

  std::vector<double> behind(count + 1, 0);  // longest path that starts at this node or a later one
  for (std::uint32_t n = count; n-- > 0;) behind[n] = std::max(behind[n + 1], paths.from[n]);
  using Crossing = std::pair<double, std::uint32_t>;
  std::priority_queue<Crossing> crossing;
  double before = 0;
  for (std::uint32_t t = 0; t < count; ++t) {
    before = std::max(before, paths.until[t]);
    for (const Neighbour& s : graph.successors(t)) crossing.push({through(s.edge), s.edge});
    const auto drop_ended = [&] {
      while (!crossing.empty() && edges[crossing.top().second].to <= t) crossing.pop();
    };
    drop_ended();
    for (const Neighbour& s : graph.successors(t)) {
      if (!costs.edges[s.edge].is_critical) continue;
      // The edge is among the longest: the runner-up is the longest path without it.
      double other = std::max(before, behind[t + 1]);
      const Crossing top = crossing.top();
      if (top.second != s.edge) {
        other = std::max(other, top.first);
      } else {
        crossing.pop();
        drop_ended();
        if (!crossing.empty()) other = std::max(other, crossing.top().first);
        crossing.push(top);
      }
      other = std::max({other, relaxed_path(graph, paths, overlap, s.edge), costs.busy});
      costs.edges[s.edge].cost = std::max(0.0, costs.estimate() - other);
    }
  }
}

// An edge is redundant if its start precedes another predecessor of its end. Ancestor sets are bit
// sets over kWords x 64 nodes at a time, which keeps memory linear.
void find_implied_edges(const Graph& graph, SyncCosts& costs) {
  constexpr std::uint32_t kWords = 8, kBits = kWords * 64;
  const std::uint32_t count = graph.node_count();
  using Bits = std::array<std::uint64_t, kWords>;
  std::vector<Bits> ancestors(count);
  for (std::uint32_t base = 0; base < count; base += kBits) {
    for (std::uint32_t n = base; n < count; ++n) {
      Bits of_predecessors{}, direct{};
      for (const Neighbour& p : graph.predecessors(n)) {
        if (p.node >= base) {
          for (std::uint32_t w = 0; w < kWords; ++w) of_predecessors[w] |= ancestors[p.node][w];
        }
        if (p.node >= base && p.node - base < kBits)
          direct[(p.node - base) / 64] |= std::uint64_t{1} << (p.node - base) % 64;
      }
      for (const Neighbour& p : graph.predecessors(n)) {
        if (p.node < base || p.node - base >= kBits) continue;
        if ((of_predecessors[(p.node - base) / 64] >> (p.node - base) % 64 & 1) != 0)
          costs.edges[p.edge].is_redundant = true;
      }
      for (std::uint32_t w = 0; w < kWords; ++w) ancestors[n][w] = of_predecessors[w] | direct[w];
    }
  }
}

double length_without_barrier(const Graph& graph, const std::vector<double>& durations,
                              std::uint32_t barrier) {
  std::vector<double> until = durations;
  double length = 0;
  for (std::uint32_t n = 0; n < graph.own_node_count(); ++n) {
    for (const Neighbour& p : graph.predecessors(n)) {
      if (graph.record().edges[p.edge].barrier != barrier)
        until[n] = std::max(until[n], until[p.node] + durations[n]);
    }
    length = std::max(length, until[n]);
  }
  return length;
}

}  // namespace

std::vector<double> device_demand(const Graph& graph, const trace::Device* device) {
  std::vector<double> demand(graph.node_count(), 0);
  if (device == nullptr || device->multiprocessors == 0) return demand;
  const bool is_host = device->selector.starts_with("host");
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const trace::Node& node = graph.record().nodes[n];
    if (node.kind == trace::NodeKind::Join) continue;
    double used = is_host ? 1 : 0;
    if (!is_host && node.kind == trace::NodeKind::Dispatch)
      used = 1.0 * node.grid[0] * std::max(node.grid[1], 1u) * std::max(node.grid[2], 1u);
    demand[n] = std::min(1.0, used / device->multiprocessors);
  }
  return demand;
}

bool is_data_flow(const trace::Edge& edge) {
  return edge.cause == trace::EdgeCause::Hazard && edge.hazard == trace::Hazard::ReadAfterWrite;
}

SyncCosts sync_costs(const Graph& graph, const std::vector<double>& durations,
                     const std::vector<double>& demand) {
  SyncCosts costs;
  costs.edges.resize(graph.record().edges.size());
  costs.barriers.resize(graph.record().barriers.size());
  const LongestPaths paths = longest_paths(graph, durations);
  const Overlap overlap(durations, demand);
  costs.length = paths.length;
  for (std::uint32_t n = 0; n < graph.own_node_count(); ++n) costs.busy += durations[n] * demand[n];
  find_edge_costs(graph, paths, overlap, costs);
  find_implied_edges(graph, costs);
  for (std::size_t e = 0; e < costs.edges.size(); ++e) {
    const std::uint32_t barrier = graph.record().edges[e].barrier;
    if (barrier == trace::kNone) continue;
    BarrierCost& b = costs.barriers[barrier];
    ++b.edges;
    b.critical_edges += costs.edges[e].is_critical ? 1 : 0;
    b.redundant_edges += costs.edges[e].is_redundant ? 1 : 0;
  }
  std::vector<double> without(costs.barriers.size(), 0);
  for (std::uint32_t b = 0; b < costs.barriers.size(); ++b) {
    if (costs.barriers[b].critical_edges != 0)
      without[b] = std::max(costs.busy, length_without_barrier(graph, durations, b));
  }
  for (std::uint32_t e = 0; e < costs.edges.size(); ++e) {
    const trace::Edge& edge = graph.record().edges[e];
    if (edge.barrier == trace::kNone || costs.barriers[edge.barrier].critical_edges == 0) continue;
    double& length = without[edge.barrier];
    if (paths.until[edge.from] + paths.from[edge.to] > length)
      length = std::max(length, relaxed_path(graph, paths, overlap, e));
  }
  for (std::uint32_t b = 0; b < costs.barriers.size(); ++b) {
    if (costs.barriers[b].critical_edges != 0)
      costs.barriers[b].cost = std::max(0.0, costs.estimate() - without[b]);
  }
  return costs;
}

}  // namespace reprise::model
