#include "panels/memory/memory_pools.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "panels/widgets/format.hpp"
#include "panels/widgets/row_order.hpp"
#include "trace/record_names.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

// Graph names by graph id (shared by all versions).
std::map<std::uint32_t, std::string> graph_names(const model::Document& document) {
  std::map<std::uint32_t, std::string> names;
  for (const auto& [key, entry] : document.graphs) names[key.graph] = entry.graph->name();
  return names;
}

void append(std::string& list, const std::string& name) {
  list += (list.empty() ? "" : ", ") + name;
}

std::vector<PoolRow> pool_rows(const model::Document& document,
                               const std::map<std::uint32_t, std::string>& names) {
  const auto users = [&](std::uint32_t pool, trace::PoolRole role, model::Document::Uses uses) {
    std::string list;
    for (const std::uint32_t graph : document.users_of(pool, role, uses)) {
      const auto name = names.find(graph);
      append(list, name == names.end() ? "graph " + count_text(graph) : name->second);
    }
    return list;
  };
  using Uses = model::Document::Uses;
  std::vector<PoolRow> rows;
  std::map<std::uint32_t, std::size_t> row_index;
  for (const auto& [id, state] : *document.pools) {
    PoolRow row;
    row.state = state;
    row.name = document.pool_name(id);
    row.device = trace::device_name(*document.devices, state.device);
    row.holders = users(id, trace::PoolRole::Holder, Uses::Current);
    row.former_holders = users(id, trace::PoolRole::Holder, Uses::Former);
    row.sharers = users(id, trace::PoolRole::Sharer, Uses::Current);
    row.former_sharers = users(id, trace::PoolRole::Sharer, Uses::Former);
    row_index[id] = rows.size();
    rows.push_back(std::move(row));
  }
  for (const trace::PoolState& state : document.pool_history) {
    const auto found = row_index.find(state.pool);
    if (found == row_index.end()) continue;
    PoolRow& row = rows[found->second];
    const PoolPoint point{state.at, state.device_bytes, state.host_bytes, state.mapped};
    // Skip changes of other fields.
    const bool is_unchanged = !row.history.empty() &&
                              row.history.back().device_bytes == point.device_bytes &&
                              row.history.back().host_bytes == point.host_bytes &&
                              row.history.back().mapped == point.mapped;
    if (!is_unchanged) row.history.push_back(point);
    row.peak_device = std::max(row.peak_device, state.device_bytes);
    row.peak_host = std::max(row.peak_host, state.host_bytes);
    row.peak_bytes =
        std::max(row.peak_bytes, std::max(state.device_bytes, state.mapped) + state.host_bytes);
    row.peak_buffers = std::max(row.peak_buffers, state.buffers);
  }
  for (PoolRow& row : rows) {
    std::stable_sort(row.history.begin(), row.history.end(),
                     [](const PoolPoint& a, const PoolPoint& b) { return a.at < b.at; });
  }
  return rows;
}

std::vector<DeviceRow> device_rows(const model::Document& document) {
  std::vector<DeviceRow> rows;
  for (const auto& [id, totals] : *document.device_totals)
    rows.push_back({totals, trace::device_name(*document.devices, id), {}, 0});
  for (const trace::DeviceTotals& totals : document.device_history) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const DeviceRow& r) {
      return r.totals.device == totals.device;
    });
    if (row == rows.end()) continue;
    row->history.push_back({totals.at, totals.buffers, 0, totals.mapped});
    row->peak_buffers = std::max(row->peak_buffers, totals.buffers);
  }
  for (DeviceRow& row : rows)
    std::stable_sort(row.history.begin(), row.history.end(),
                     [](const PoolPoint& a, const PoolPoint& b) { return a.at < b.at; });
  return rows;
}

std::vector<BufferRow> buffer_rows(const model::Document& document, const model::Graph* graph) {
  std::vector<BufferRow> rows;
  std::map<std::uint32_t, std::size_t> row_index;  // by session-wide buffer id
  for (const auto& [id, life] : *document.buffers) {
    BufferRow row;
    row.name = life.name.empty() ? "buffer " + count_text(id) : life.name;
    row.pool = document.pool_name(life.pool);
    row.kind = life.kind;
    row.bytes = life.bytes;
    row.address = life.address;
    row.allocated = life.allocated;
    row.freed = life.freed;
    row_index[id] = rows.size();
    rows.push_back(std::move(row));
  }
  std::map<std::size_t, std::vector<std::uint32_t>> other_graphs;  // row to graphs
  for (const auto& [key, entry] : document.graphs) {
    const auto& buffers = entry.graph->record().buffers;
    for (std::uint32_t b = 0; b < buffers.size(); ++b) {
      const auto found = buffers[b].id == kNone ? row_index.end() : row_index.find(buffers[b].id);
      if (entry.graph.get() != graph) {
        if (found == row_index.end()) continue;
        auto& graphs = other_graphs[found->second];
        const bool is_shown = graph && key.graph == graph->key().graph;
        if (!is_shown && (graphs.empty() || graphs.back() != key.graph))
          graphs.push_back(key.graph);
        continue;
      }
      std::size_t at = found == row_index.end() ? rows.size() : found->second;
      if (at == rows.size()) {  // a transient, or a buffer without a lifetime record
        BufferRow row;
        row.kind = buffers[b].kind;
        row.bytes = buffers[b].bytes;
        row.address = buffers[b].offset;
        row.pool = buffers[b].kind == trace::BufferKind::Transient
                       ? "slab"
                       : document.pool_name(buffers[b].pool);
        rows.push_back(std::move(row));
      }
      rows[at].name = graph->buffer_name(b);
      rows[at].buffer = b;
      rows[at].uses = static_cast<std::uint32_t>(graph->uses(b).size());
    }
  }
  const auto names = graph_names(document);
  for (const auto& [row, graphs] : other_graphs) {
    for (const std::uint32_t g : graphs) append(rows[row].other_graphs, names.at(g));
  }
  return rows;
}

}  // namespace

PoolViewModel pool_view_model(const model::Document& document,
                              std::shared_ptr<const model::Graph> graph) {
  PoolViewModel view_model;
  view_model.pools = pool_rows(document, graph_names(document));
  view_model.devices = device_rows(document);
  view_model.buffers = buffer_rows(document, graph.get());
  view_model.first = document.first;
  view_model.last = document.last;
  for (const PoolRow& row : view_model.pools)
    view_model.peak_bytes = std::max(view_model.peak_bytes, row.peak_bytes);
  for (const DeviceRow& row : view_model.devices)
    view_model.peak_bytes = std::max(view_model.peak_bytes, row.totals.peak);
  view_model.graph = std::move(graph);
  return view_model;
}

std::vector<std::uint32_t> ordered_buffers(const PoolViewModel& view_model, BufferOrder order,
                                           const std::vector<std::uint8_t>& matches) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < view_model.buffers.size(); ++i) {
    const std::uint32_t b = view_model.buffers[i].buffer;
    if (matches.empty() || (b < matches.size() && matches[b] != 0)) rows.push_back(i);
  }
  const auto sort_by = [&](auto value) {
    sort_rows(rows, order.is_descending, [&](std::uint32_t a, std::uint32_t b) {
      return value(view_model.buffers[a]) < value(view_model.buffers[b]);
    });
  };
  switch (order.by) {
    case BufferColumn::Name:
      sort_by([](const BufferRow& r) -> const std::string& { return r.name; });
      break;
    case BufferColumn::Kind:
      sort_by([](const BufferRow& r) -> const trace::BufferKind& { return r.kind; });
      break;
    case BufferColumn::Bytes:
      sort_by([](const BufferRow& r) -> const std::uint64_t& { return r.bytes; });
      break;
    case BufferColumn::Address:
      sort_by([](const BufferRow& r) -> const std::uint64_t& { return r.address; });
      break;
    case BufferColumn::Pool:
      sort_by([](const BufferRow& r) -> const std::string& { return r.pool; });
      break;
    case BufferColumn::Allocated:
      sort_by([](const BufferRow& r) -> const trace::Time& { return r.allocated; });
      break;
    case BufferColumn::Freed:
      sort_by([](const BufferRow& r) -> const trace::Time& { return r.freed; });
      break;
    case BufferColumn::Uses:
      sort_by([](const BufferRow& r) -> const std::uint32_t& { return r.uses; });
      break;
  }
  return rows;
}

}  // namespace reprise::viewer
