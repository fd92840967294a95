#include "panels/sync/sync_view_model.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace reprise::viewer {

using trace::kNone;

bool is_added(trace::EdgeCause cause) {
  return cause == trace::EdgeCause::Lane || cause == trace::EdgeCause::EntryExit;
}

namespace {

double length_without(const model::Graph& graph, const std::vector<double>& durations,
                      trace::EdgeCause cause) {
  std::vector<double> finish = durations;
  double length = 0;
  for (std::uint32_t n = 0; n < graph.own_node_count(); ++n) {
    for (const model::Neighbour& p : graph.predecessors(n)) {
      if (graph.record().edges[p.edge].cause != cause)
        finish[n] = std::max(finish[n], finish[p.node] + durations[n]);
    }
    length = std::max(length, finish[n]);
  }
  return length;
}

void index_barrier_edges(SyncViewModel& view_model) {
  const auto& record = view_model.graph->record();
  view_model.barrier_offsets.assign(record.barriers.size() + 1, 0);
  for (const trace::Edge& e : record.edges) {
    if (e.barrier != kNone) ++view_model.barrier_offsets[e.barrier + 1];
  }
  for (std::size_t b = 0; b < record.barriers.size(); ++b)
    view_model.barrier_offsets[b + 1] += view_model.barrier_offsets[b];
  view_model.barrier_edges.resize(view_model.barrier_offsets.back());
  std::vector<std::uint32_t> next(view_model.barrier_offsets.begin(),
                                  view_model.barrier_offsets.end() - 1);
  for (std::uint32_t e = 0; e < record.edges.size(); ++e) {
    if (record.edges[e].barrier != kNone)
      view_model.barrier_edges[next[record.edges[e].barrier]++] = e;
  }
}

// Redundancy is computed without edges added by lowering: an edge stays required if only a lane
// happens to order the same nodes.
void find_redundancy(SyncViewModel& view_model, const std::vector<double>& durations) {
  const auto& edges = view_model.graph->record().edges;
  view_model.edge_redundancy.assign(edges.size(), Redundancy::None);
  view_model.barrier_redundancy.assign(view_model.costs.barriers.size(), Redundancy::Full);
  const bool any_added = std::any_of(edges.begin(), edges.end(),
                                     [](const trace::Edge& e) { return is_added(e.cause); });
  std::vector<std::uint8_t> is_redundant(edges.size(), 0);
  if (any_added) {
    trace::GraphVersion required = view_model.graph->record();
    std::vector<std::uint32_t> kept_edges;  // indices
    required.edges.clear();
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      if (is_added(edges[e].cause)) continue;
      kept_edges.push_back(e);
      required.edges.push_back(edges[e]);
    }
    const model::SyncCosts costs =
        model::sync_costs(model::Graph(std::move(required)), durations, view_model.demand);
    for (std::size_t k = 0; k < kept_edges.size(); ++k)
      is_redundant[kept_edges[k]] = costs.edges[k].is_redundant ? 1 : 0;
  } else {
    for (std::size_t e = 0; e < edges.size(); ++e)
      is_redundant[e] = view_model.costs.edges[e].is_redundant ? 1 : 0;
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    Redundancy& redundancy = view_model.edge_redundancy[e];
    redundancy = is_redundant[e] != 0                     ? Redundancy::Full
                 : view_model.costs.edges[e].is_redundant ? Redundancy::ByLowering
                                                          : Redundancy::None;
    if (edges[e].barrier != kNone)
      view_model.barrier_redundancy[edges[e].barrier] =
          std::min(view_model.barrier_redundancy[edges[e].barrier], redundancy);
  }
  view_model.redundant_barriers =
      static_cast<std::uint32_t>(std::count(view_model.barrier_redundancy.begin(),
                                            view_model.barrier_redundancy.end(), Redundancy::Full));
}

// Replaces join nodes by their nearest neighbours that are not joins; each node once.
template <class Neighbours>
std::vector<std::uint32_t> without_joins(const model::Graph& graph,
                                         std::vector<std::uint32_t> nodes, Neighbours neighbours) {
  std::vector<std::uint8_t> seen(graph.node_count(), 0);
  std::vector<std::uint32_t> found;
  while (!nodes.empty()) {
    const std::uint32_t n = nodes.back();
    nodes.pop_back();
    if (std::exchange(seen[n], std::uint8_t{1}) != 0) continue;
    if (graph.record().nodes[n].kind != trace::NodeKind::Join) {
      found.push_back(n);
      continue;
    }
    for (const model::Neighbour& x : neighbours(n)) nodes.push_back(x.node);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

NoGain no_gain(const SyncViewModel& view_model, std::uint32_t edge) {
  const model::EdgeCost& cost = view_model.costs.edges[edge];
  const trace::Edge& e = view_model.graph->record().edges[edge];
  if (cost.cost > 0) return NoGain::None;
  if (!cost.is_critical) return NoGain::NotCritical;
  if (view_model.costs.busy >= view_model.costs.length) return NoGain::DeviceBusy;
  if (view_model.demand[e.from] + view_model.demand[e.to] > 1 && !cost.is_redundant)
    return NoGain::NodesFillDevice;
  return NoGain::OtherPath;
}

SyncViewModel sync_view_model(std::shared_ptr<const model::Graph> graph,
                              const std::vector<double>& durations, std::vector<double> demand) {
  SyncViewModel view_model;
  view_model.has_times =
      std::any_of(durations.begin(), durations.end(), [](double d) { return d > 0; });
  view_model.demand = std::move(demand);
  view_model.demand.resize(graph->node_count(), 0);
  view_model.costs = model::sync_costs(*graph, durations, view_model.demand);
  view_model.graph = std::move(graph);
  index_barrier_edges(view_model);
  find_redundancy(view_model, durations);
  const auto& edges = view_model.graph->record().edges;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    const model::EdgeCost& cost = view_model.costs.edges[e];
    SyncViewModel::Cause& cause = view_model.causes[static_cast<std::size_t>(edges[e].cause)];
    ++cause.edges;
    cause.critical += cost.is_critical ? 1 : 0;
    cause.redundant += cost.is_redundant ? 1 : 0;
    if (!model::is_data_flow(edges[e]) &&
        cost.cost > (view_model.costliest_edge == kNone
                         ? 0
                         : view_model.costs.edges[view_model.costliest_edge].cost))
      view_model.costliest_edge = e;
  }
  for (std::size_t c = 0; c < kEdgeCauses; ++c) {
    const auto cause = static_cast<trace::EdgeCause>(c);
    if (view_model.causes[c].critical != 0 && is_added(cause)) {
      const double without =
          std::max(view_model.costs.busy, length_without(*view_model.graph, durations, cause));
      view_model.causes[c].cost = std::max(0.0, view_model.costs.estimate() - without);
    }
  }
  for (std::uint32_t b = 0; b < view_model.costs.barriers.size(); ++b) {
    const model::BarrierCost& cost = view_model.costs.barriers[b];
    if (cost.cost > (view_model.costliest_barrier == kNone
                         ? 0
                         : view_model.costs.barriers[view_model.costliest_barrier].cost))
      view_model.costliest_barrier = b;
  }
  return view_model;
}

EdgeEnds ends_of(const model::Graph& graph, std::span<const std::uint32_t> edges) {
  EdgeEnds ends;
  for (const std::uint32_t e : edges) {
    ends.before.push_back(graph.record().edges[e].from);
    ends.after.push_back(graph.record().edges[e].to);
  }
  ends.before = without_joins(graph, std::move(ends.before),
                              [&](std::uint32_t n) { return graph.predecessors(n); });
  ends.after = without_joins(graph, std::move(ends.after),
                             [&](std::uint32_t n) { return graph.successors(n); });
  return ends;
}

bool is_hazard(const Finding& finding) { return finding.message.id == "hazard-unordered"; }

std::vector<Finding> findings(const model::Graph& graph,
                              const model::ListView<trace::Message>& messages) {
  std::map<std::uint32_t, std::uint32_t> nodes, barriers;  // command to node, command to barrier
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    if (graph.record().nodes[n].command != kNone) nodes.emplace(graph.record().nodes[n].command, n);
  }
  for (std::uint32_t b = 0; b < graph.record().barriers.size(); ++b)
    barriers.emplace(graph.record().barriers[b].command, b);
  const auto find = [](const auto& map, std::uint32_t command) {
    const auto found = map.find(command);
    return found == map.end() ? kNone : found->second;
  };
  std::vector<Finding> all;
  for (const trace::Message& m : messages) {
    const bool of_graph =
        m.graph == graph.key().graph && (m.version == 0 || m.version == graph.key().version);
    if (!of_graph && m.graph != kNone) continue;
    const bool is_relevant = m.id.starts_with("hazard-") || m.id.starts_with("barrier-") ||
                             m.id.starts_with("edge-") || m.id.starts_with("transient-") ||
                             m.id == "findings-left-out";
    if (!is_relevant) continue;
    Finding finding{m, kNone, kNone, kNone};
    if (of_graph)
      finding = {m, find(nodes, m.command), find(nodes, m.other_command),
                 find(barriers, m.command)};
    all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace reprise::viewer
