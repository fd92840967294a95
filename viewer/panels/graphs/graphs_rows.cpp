#include "panels/graphs/graphs_rows.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "panels/widgets/format.hpp"
#include "panels/widgets/row_order.hpp"

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

const model::GraphTotals& totals_of(const model::GraphTable& table, const GraphListRow& row) {
  return row.row == kNone ? table.families[row.family].totals : table.rows[row.row].totals;
}

// Empty: unknown. A family has the largest median of its graphs.
std::optional<double> number_of(const model::GraphTable& table, const GraphListRow& row,
                                GraphColumn column) {
  const model::GraphTotals& totals = totals_of(table, row);
  const model::GraphRow* graph = row.row == kNone ? nullptr : &table.rows[row.row];
  const auto number = [](auto value) { return static_cast<double>(value); };
  const auto known = [&](bool is_known, auto value) {
    return is_known ? std::optional(number(value)) : std::nullopt;
  };
  const auto of_graph = [&](Time model::GraphRow::*time) {
    return graph == nullptr ? std::nullopt : known(graph->*time >= 0, graph->*time);
  };
  const auto spent = [&](Time time) { return known(time != 0, time); };
  const auto bytes = [&](std::optional<std::int64_t> value) {
    return known(value.has_value(), value.value_or(0));
  };
  switch (column) {
    case GraphColumn::Replays: return number(totals.replays);
    case GraphColumn::Median: {
      const Time median = graph != nullptr ? graph->median : table.families[row.family].max_median;
      return known(median >= 0, median);
    }
    case GraphColumn::P99: return of_graph(&model::GraphRow::p99);
    case GraphColumn::Total: return known(totals.device_time > 0, totals.device_time);
    case GraphColumn::Share: return known(totals.device_time > 0, totals.share);
    case GraphColumn::Latency: return of_graph(&model::GraphRow::latency);
    case GraphColumn::Gap: return of_graph(&model::GraphRow::gap);
    case GraphColumn::Nodes: return number(totals.nodes);
    case GraphColumn::Slab: return number(totals.slab_bytes);
    case GraphColumn::Memory: return bytes(totals.memory_bytes());
    case GraphColumn::LaunchMemory: return bytes(totals.launch_bytes);
    case GraphColumn::Record: return spent(totals.record);
    case GraphColumn::Compile: return spent(totals.compile);
    case GraphColumn::Instantiate: return spent(totals.instantiate);
    case GraphColumn::Upload: return spent(totals.upload);
    case GraphColumn::Versions:
      return graph == nullptr ? std::nullopt : std::optional(number(graph->versions));
    case GraphColumn::Name:
    case GraphColumn::Process:
    case GraphColumn::Pool: break;
  }
  return std::nullopt;
}

std::string name_of(const model::GraphTable& table, const GraphListRow& row) {
  return row.row == kNone ? model::family_name(table, table.families[row.family])
                          : table.rows[row.row].name;
}

bool is_text(GraphColumn column) {
  return column == GraphColumn::Name || column == GraphColumn::Process ||
         column == GraphColumn::Pool;
}

void sort_list(const model::GraphTable& table, GraphOrder order, std::vector<GraphListRow>& rows) {
  std::vector<std::uint32_t> indices(rows.size());
  for (std::uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
  if (is_text(order.by)) {
    std::vector<std::string> texts;
    for (const GraphListRow& row : rows) texts.push_back(graph_text(table, row, order.by));
    sort_rows(indices, order.is_descending,
              [&](std::uint32_t a, std::uint32_t b) { return texts[a] < texts[b]; });
  } else {
    std::vector<std::optional<double>> numbers;
    for (const GraphListRow& row : rows) numbers.push_back(number_of(table, row, order.by));
    sort_rows(indices, order.is_descending,
              [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
    std::stable_partition(indices.begin(), indices.end(),
                          [&](std::uint32_t i) { return numbers[i].has_value(); });
  }
  std::vector<GraphListRow> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t i : indices) sorted.push_back(rows[i]);
  rows = std::move(sorted);
}

}  // namespace

std::vector<GraphListRow> graph_rows(const model::GraphTable& table, GraphOrder order,
                                     const std::set<std::uint64_t>& expanded) {
  std::vector<GraphListRow> families;
  for (std::uint32_t f = 0; f < table.families.size(); ++f) {
    const auto& members = table.families[f].rows;
    families.push_back({f, members.size() == 1 ? members.front() : kNone, false});
  }
  sort_list(table, order, families);
  std::vector<GraphListRow> rows;
  for (const GraphListRow& row : families) {
    rows.push_back(row);
    if (row.row != kNone || expanded.count(table.families[row.family].topology) == 0) continue;
    std::vector<GraphListRow> members;
    for (const std::uint32_t r : table.families[row.family].rows)
      members.push_back({row.family, r, true});
    sort_list(table, order, members);
    rows.insert(rows.end(), members.begin(), members.end());
  }
  return rows;
}

std::string graph_text(const model::GraphTable& table, const GraphListRow& row,
                       GraphColumn column) {
  const model::GraphTotals& totals = totals_of(table, row);
  const model::GraphRow* graph = row.row == kNone ? nullptr : &table.rows[row.row];
  switch (column) {
    case GraphColumn::Name: return name_of(table, row);
    case GraphColumn::Process:
      return graph == nullptr ? std::string() : table.processes[graph->process];
    case GraphColumn::Pool: return graph == nullptr ? std::string() : graph->pool;
    case GraphColumn::Replays:
      return totals.replays == 0 ? "never replayed" : count_text(totals.replays);
    case GraphColumn::Nodes: return count_text(totals.nodes);
    case GraphColumn::Slab: return totals.slab_bytes == 0 ? "" : bytes_text(totals.slab_bytes);
    case GraphColumn::Median:
      if (graph == nullptr && table.families[row.family].min_median >= 0) {
        const model::GraphFamily& family = table.families[row.family];
        return duration_text(static_cast<double>(family.min_median)) + " - " +
               duration_text(static_cast<double>(family.max_median));
      }
      break;
    default: break;
  }
  const std::optional<double> number = number_of(table, row, column);
  if (!number) return {};
  switch (column) {
    case GraphColumn::Share: return percent_text(*number);
    case GraphColumn::Versions: return count_text(static_cast<std::uint64_t>(*number));
    case GraphColumn::Memory: return bytes_change_text(*totals.memory_bytes());
    case GraphColumn::LaunchMemory: return bytes_change_text(*totals.launch_bytes);
    default: return duration_text(*number);
  }
}

std::uint64_t absent_columns(const model::GraphTable& table) {
  const model::GraphTotals& totals = table.totals;
  const bool has_pools = std::any_of(table.rows.begin(), table.rows.end(),
                                     [](const model::GraphRow& row) { return !row.pool.empty(); });
  std::uint64_t absent = 0;
  const auto show = [&](GraphColumn column, bool is_present) {
    if (!is_present) absent |= std::uint64_t{1} << static_cast<unsigned>(column);
  };
  show(GraphColumn::Process, table.processes.size() > 1);
  show(GraphColumn::Slab, totals.slab_bytes != 0);
  show(GraphColumn::Pool, has_pools);
  show(GraphColumn::Memory, totals.memory_bytes().has_value());
  show(GraphColumn::LaunchMemory, totals.launch_bytes.has_value());
  show(GraphColumn::Record, totals.record != 0);
  show(GraphColumn::Compile, totals.compile != 0);
  show(GraphColumn::Instantiate, totals.instantiate != 0);
  show(GraphColumn::Upload, totals.upload != 0);
  return absent;
}

std::optional<double> graph_number(const model::GraphTable& table, const GraphListRow& row,
                                   GraphColumn column) {
  const bool is_range = column == GraphColumn::Median && row.row == kNone;
  return is_range ? std::nullopt : number_of(table, row, column);
}

}  // namespace reprise::viewer
