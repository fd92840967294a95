#include "panels/sync/sync_order.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "panels/widgets/row_order.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

bool passes(const SyncViewModel& view_model, std::uint32_t edge,
            const std::vector<std::uint8_t>& matches) {
  const trace::Edge& e = view_model.graph->record().edges[edge];
  return matches.empty() || matches[e.from] != 0 || matches[e.to] != 0;
}

bool passes(const SyncViewModel& view_model, std::uint32_t edge, const EdgeFilter& filter) {
  const trace::Edge& e = view_model.graph->record().edges[edge];
  if (filter.barrier != kNone) return e.barrier == filter.barrier;
  if ((filter.causes >> static_cast<unsigned>(e.cause) & 1) == 0) return false;
  const model::EdgeCost& cost = view_model.costs.edges[edge];
  switch (filter.kind) {
    case EdgeKind::All: return true;
    case EdgeKind::Critical: return cost.is_critical;
    case EdgeKind::Redundant: return view_model.edge_redundancy[edge] == Redundancy::Full;
  }
  return true;
}

// Stable sort by value(row).
template <class Value>
void sort_by_value(std::vector<std::uint32_t>& rows, bool is_descending, Value value) {
  std::vector<decltype(value(0u))> values;
  values.reserve(rows.size());
  for (const std::uint32_t r : rows) values.push_back(value(r));
  std::vector<std::uint32_t> order(rows.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_rows(order, is_descending,
            [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  for (std::uint32_t& i : order) i = rows[i];
  rows = std::move(order);
}

int status_rank(const model::EdgeCost& cost, Redundancy redundancy) {
  return cost.is_critical                       ? 0
         : redundancy == Redundancy::Full       ? 1
         : redundancy == Redundancy::ByLowering ? 2
                                                : 3;
}

}  // namespace

std::vector<std::uint32_t> ordered_edges(const SyncViewModel& view_model, const ShownGaps& gaps,
                                         const EdgeFilter& filter, EdgeOrder order,
                                         const std::vector<std::uint8_t>& matches) {
  const model::Graph& graph = *view_model.graph;
  const auto& edges = graph.record().edges;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    if (passes(view_model, e, filter) && passes(view_model, e, matches)) rows.push_back(e);
  }
  const auto sort_by = [&](auto value) { sort_by_value(rows, order.is_descending, value); };
  switch (order.by) {
    case EdgeColumn::From: sort_by([&](std::uint32_t e) { return edges[e].from; }); break;
    case EdgeColumn::To: sort_by([&](std::uint32_t e) { return edges[e].to; }); break;
    case EdgeColumn::Cause: sort_by([&](std::uint32_t e) { return edges[e].cause; }); break;
    case EdgeColumn::Hazard: sort_by([&](std::uint32_t e) { return edges[e].hazard; }); break;
    case EdgeColumn::Buffer:
      sort_by([&](std::uint32_t e) {
        return edges[e].buffer == kNone ? std::string() : graph.buffer_name(edges[e].buffer);
      });
      break;
    case EdgeColumn::Bytes:
      sort_by([&](std::uint32_t e) { return edges[e].end - edges[e].begin; });
      break;
    case EdgeColumn::Cost:
      sort_by([&](std::uint32_t e) { return view_model.costs.edges[e].cost; });
      break;
    case EdgeColumn::Gap:
      sort_by([&](std::uint32_t e) {
        const bool is_known = gaps.of_replay && (*gaps.of_replay)[e].is_known;
        return is_known ? (*gaps.of_replay)[e].time : std::numeric_limits<trace::Time>::min();
      });
      break;
    case EdgeColumn::MedianGap:
      sort_by([&](std::uint32_t e) {
        const bool is_known = gaps.medians && gaps.medians->edges[e].count != 0;
        return is_known ? gaps.medians->edges[e].time : std::numeric_limits<double>::lowest();
      });
      break;
    case EdgeColumn::Status:
      sort_by([&](std::uint32_t e) {
        return status_rank(view_model.costs.edges[e], view_model.edge_redundancy[e]);
      });
      break;
  }
  return rows;
}

std::vector<std::uint32_t> ordered_barriers(const SyncViewModel& view_model, BarrierOrder order,
                                            const std::vector<std::uint8_t>& matches) {
  const model::Graph& graph = *view_model.graph;
  const auto& barriers = graph.record().barriers;
  const auto passes_filter = [&](std::uint32_t b) {
    if (matches.empty()) return true;
    const auto own = view_model.edges_of(b);
    if (std::any_of(own.begin(), own.end(),
                    [&](std::uint32_t e) { return passes(view_model, e, matches); }))
      return true;
    if (barriers[b].buffer == kNone) return false;
    const auto uses = graph.uses(barriers[b].buffer);
    return std::any_of(uses.begin(), uses.end(),
                       [&](const model::BufferUse& u) { return matches[u.node] != 0; });
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t b = 0; b < barriers.size(); ++b) {
    if (passes_filter(b)) rows.push_back(b);
  }
  const auto sort_by = [&](auto value) { sort_by_value(rows, order.is_descending, value); };
  const auto& strings = graph.record().strings;
  switch (order.by) {
    case BarrierColumn::Location:
      sort_by(
          [&](std::uint32_t b) { return std::pair(strings[barriers[b].file], barriers[b].line); });
      break;
    case BarrierColumn::Label:
      sort_by([&](std::uint32_t b) { return graph.label_path(barriers[b].label); });
      break;
    case BarrierColumn::Buffer:
      sort_by([&](std::uint32_t b) {
        return barriers[b].buffer == kNone ? std::string() : graph.buffer_name(barriers[b].buffer);
      });
      break;
    case BarrierColumn::Access:
      sort_by([&](std::uint32_t b) { return std::pair(barriers[b].before, barriers[b].after); });
      break;
    case BarrierColumn::Edges:
      sort_by([&](std::uint32_t b) { return view_model.costs.barriers[b].edges; });
      break;
    case BarrierColumn::Critical:
      sort_by([&](std::uint32_t b) { return view_model.costs.barriers[b].critical_edges; });
      break;
    case BarrierColumn::Cost:
      sort_by([&](std::uint32_t b) { return view_model.costs.barriers[b].cost; });
      break;
    case BarrierColumn::Status:
      sort_by(
          [&](std::uint32_t b) { return 2 - static_cast<int>(view_model.barrier_redundancy[b]); });
      break;
  }
  return rows;
}

}  // namespace reprise::viewer
