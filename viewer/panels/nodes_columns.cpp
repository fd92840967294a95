#include "panels/nodes_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "panels/format.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

namespace {

using Show = NodeColumnInfo::Show;

constexpr NodeColumnInfo kNodeColumnInfos[] = {
    {NodeColumn::Name, "Node", "The node, in the colour that the graph gives it. Double-click shows it in the graph.", 22, CellAlign::Left,
     Show::Always},
    {NodeColumn::Id, "Id", "Its number in the graph: the order in which nodes were recorded.", 6},
    {NodeColumn::Share, "Share", "Its part of the time of all nodes of the graph.", 14},
    {NodeColumn::Median, "Median", "Half of its samples took no longer.", 11},
    {NodeColumn::Spread, "Spread", "How its durations are distributed, from the shortest on the left; the bars at the ends hold the tails.", 11,
     CellAlign::Left},
    {NodeColumn::P10, "p10", "A tenth of its samples took no longer.", 11, CellAlign::Right, Show::OnDemand},
    {NodeColumn::P90, "p90", "Nine tenths of its samples took no longer.", 11},
    {NodeColumn::P99, "p99", "99 of 100 samples took no longer.", 11},
    {NodeColumn::Greatest, "Longest", "Its longest sample.", 11},
    {NodeColumn::Samples, "Samples", "Measured runs, in the chosen range of replays.", 9},
    {NodeColumn::Lost, "Lost", "Runs whose time was lost.", 7, CellAlign::Right, Show::OnDemand},
    {NodeColumn::Slack, "Slack", "How much longer it could take without making the replay longer, by medians.", 11},
    {NodeColumn::Critical, "Critical", "On the longest path through the graph, by medians.", 8},
    {NodeColumn::Kind, "Kind", "What it does.", 9, CellAlign::Left},
    {NodeColumn::Label, "Label", "The labels around it in the recording.", 20, CellAlign::Left},
    {NodeColumn::Kernel, "Kernel", "The kernel that it runs.", 18, CellAlign::Left},
    {NodeColumn::Grid, "Grid", "Thread blocks in each direction.", 10},
    {NodeColumn::Block, "Block", "Threads of a block in each direction.", 10},
    {NodeColumn::Bytes, "Bytes", "Bytes that a copy, fill or update moves or sets.", 10},
    {NodeColumn::Throughput, "Throughput", "Its bytes by its median time.", 12},
    {NodeColumn::Source, "Source", "The place in the program that recorded it.", 22, CellAlign::Left},
};
static_assert(std::size(kNodeColumnInfos) == kNodeColumns);

std::string extent_text(const std::uint32_t (&of)[3]) {
  if (of[0] == 0 && of[1] == 0 && of[2] == 0) return {};
  std::string text = count_text(of[0]);
  if (of[1] > 1 || of[2] > 1) text += " x " + count_text(of[1]);
  if (of[2] > 1) text += " x " + count_text(of[2]);
  return text;
}

double product(const std::uint32_t (&of)[3]) {
  if (of[0] == 0) return -1;
  return static_cast<double>(of[0]) * std::max(1u, of[1]) * std::max(1u, of[2]);
}

// The statistic of a column of durations, of a node that has one.
const double* duration_of(const GraphFacts::Node& node, NodeColumn column) {
  if (column == NodeColumn::Slack) return &node.slack;
  if (node.count == 0) return nullptr;
  switch (column) {
    case NodeColumn::Median: return &node.median;
    case NodeColumn::P10: return &node.p10;
    case NodeColumn::P90: return &node.p90;
    case NodeColumn::P99: return &node.p99;
    case NodeColumn::Greatest: return &node.greatest;
    default: return nullptr;
  }
}

bool is_duration(NodeColumn column) {
  switch (column) {
    case NodeColumn::Median:
    case NodeColumn::P10:
    case NodeColumn::P90:
    case NodeColumn::P99:
    case NodeColumn::Greatest:
    case NodeColumn::Slack: return true;
    default: return false;
  }
}

double bytes_a_second(const model::Graph& graph, const GraphFacts* facts, std::uint32_t node) {
  const std::uint64_t bytes = graph.record().nodes[node].bytes;
  const double median = facts == nullptr ? 0 : facts->nodes[node].median;
  return bytes == 0 || median <= 0 ? -1 : static_cast<double>(bytes) / median * 1e9;
}

std::string throughput_text(double bytes_a_second) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f GB/s", bytes_a_second < 10e9 ? 2 : 1, bytes_a_second / 1e9);
  return text;
}

}  // namespace

std::span<const NodeColumnInfo> node_columns() { return kNodeColumnInfos; }

std::string column_text(double nanoseconds, double scale) {
  const double unit = scale >= 1e9 ? 1e9 : scale >= 1e6 ? 1e6 : scale >= 1e3 ? 1e3 : 1;
  const double shown = scale / unit;
  const int decimals = unit == 1 ? 0 : shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, nanoseconds / unit);
  std::string number = text;
  const std::size_t start = number.find_first_of("0123456789");
  for (std::size_t at = std::min(number.find('.'), number.size()); at > start + 3; at -= 3) number.insert(at - 3, 1, ',');
  return number + (unit == 1e9 ? " s" : unit == 1e6 ? " ms" : unit == 1e3 ? " us" : " ns");
}

ColumnScales column_scales(const GraphFacts& facts) {
  ColumnScales scales{};
  std::vector<double> values;
  for (const NodeColumnInfo& info : kNodeColumnInfos) {
    if (!is_duration(info.column)) continue;
    values.clear();
    for (const GraphFacts::Node& node : facts.nodes) {
      if (const double* value = duration_of(node, info.column); value != nullptr && *value > 0) values.push_back(*value);
    }
    if (values.empty()) continue;
    // The unit suits most of the column, not its one giant, beside which all others would be 0.000.
    const auto place = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 3 / 4);
    std::nth_element(values.begin(), place, values.end());
    scales[static_cast<std::size_t>(info.column)] = *place;
  }
  return scales;
}

double node_number(const model::Graph& graph, const GraphFacts* facts, NodeColumn column, std::uint32_t node) {
  const trace::Node& record = graph.record().nodes[node];
  switch (column) {
    case NodeColumn::Id: return node;
    case NodeColumn::Kind: return static_cast<double>(record.kind);
    case NodeColumn::Grid: return product(record.grid);
    case NodeColumn::Block: return product(record.block);
    case NodeColumn::Bytes: return record.bytes == 0 ? -1 : static_cast<double>(record.bytes);
    case NodeColumn::Throughput: return bytes_a_second(graph, facts, node);
    case NodeColumn::Name:
    case NodeColumn::Label:
    case NodeColumn::Kernel:
    case NodeColumn::Source: return -1;
    default: break;
  }
  if (facts == nullptr || facts->samples == 0) return -1;
  const GraphFacts::Node& of = facts->nodes[node];
  switch (column) {
    case NodeColumn::Share: return of.count == 0 ? -1 : of.share;
    case NodeColumn::Spread: return of.count == 0 || of.median <= 0 ? -1 : (of.p90 - of.p10) / of.median;
    case NodeColumn::Samples: return static_cast<double>(of.count);
    case NodeColumn::Lost: return static_cast<double>(of.lost);
    case NodeColumn::Critical: return of.is_critical ? 1 : 0;
    default: {
      const double* value = duration_of(of, column);
      return value == nullptr ? -1 : *value;
    }
  }
}

bool sorts_by_text(NodeColumn column) {
  return column == NodeColumn::Name || column == NodeColumn::Label || column == NodeColumn::Kernel || column == NodeColumn::Source;
}

std::string node_text(const model::Graph& graph, const GraphFacts* facts, const ColumnScales& scales, NodeColumn column, std::uint32_t node) {
  const trace::Node& record = graph.record().nodes[node];
  switch (column) {
    case NodeColumn::Name: return graph.node_name(node);
    case NodeColumn::Kind: return kind_name(record.kind);
    case NodeColumn::Label: return graph.label_path(record.label);
    case NodeColumn::Kernel: return graph.kernel_name(node);
    case NodeColumn::Grid: return extent_text(record.grid);
    case NodeColumn::Block: return extent_text(record.block);
    case NodeColumn::Source: return place_text(graph, record.file, record.line);
    case NodeColumn::Spread: return {};
    default: break;
  }
  const double value = node_number(graph, facts, column, node);
  if (value < 0) return {};
  switch (column) {
    case NodeColumn::Share: return percent_text(value);
    case NodeColumn::Bytes: return bytes_text(record.bytes);
    case NodeColumn::Throughput: return throughput_text(value);
    case NodeColumn::Critical: return value > 0 ? "yes" : "";
    case NodeColumn::Id:
    case NodeColumn::Samples:
    case NodeColumn::Lost: return count_text(static_cast<std::uint64_t>(value));
    default: return column_text(value, scales[static_cast<std::size_t>(column)]);
  }
}

std::string nodes_as_tsv(const model::Graph& graph, const GraphFacts* facts, std::span<const std::uint32_t> nodes) {
  std::string text;
  for (const NodeColumnInfo& info : kNodeColumnInfos) {
    if (info.column == NodeColumn::Spread) continue;
    if (!text.empty()) text += '\t';
    text += info.name;
    if (is_duration(info.column)) text += " (ns)";
    if (info.column == NodeColumn::Throughput) text += " (bytes/s)";
  }
  text += '\n';
  for (const std::uint32_t node : nodes) {
    bool first = true;
    for (const NodeColumnInfo& info : kNodeColumnInfos) {
      if (info.column == NodeColumn::Spread) continue;
      if (!first) text += '\t';
      first = false;
      const bool as_number = !sorts_by_text(info.column) && info.align == CellAlign::Right && info.column != NodeColumn::Grid &&
                             info.column != NodeColumn::Block && info.column != NodeColumn::Critical;
      const double value = as_number ? node_number(graph, facts, info.column, node) : -1;
      char number[32];
      if (value >= 0) std::snprintf(number, sizeof number, info.column == NodeColumn::Share ? "%.6f" : "%.0f", value);
      if (as_number) {
        text += value >= 0 ? number : "";
        continue;
      }
      std::string cell = node_text(graph, facts, {}, info.column, node);
      std::replace_if(
          cell.begin(), cell.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
      text += cell;
    }
    text += '\n';
  }
  return text;
}

}  // namespace reprise::viewer
