#include "panels/nodes/nodes_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr TableColumn kNodeColumnInfos[] = {
    {"Node", "Node name, with its colour in the graph. Double-click to show the node in the graph.",
     22, ColumnAlign::Left, "", ColumnShow::Always},
    {"Id", "Index in the graph, in recording order.", 6, ColumnAlign::Right},
    {"Share",
     "Fraction of the total time of all nodes. Loops and conditionals count without the nodes "
     "that they run.",
     14, ColumnAlign::Right},
    {"Median", "50th percentile of the samples, within 0.1 %.", 11, ColumnAlign::Right, "ns"},
    {"Spread",
     "Histogram of the durations. The first and the last bar include the tails. Exported as (p90 - "
     "p10) / median.",
     11, ColumnAlign::Left},
    {"p10", "10th percentile of the samples, within 0.1 %.", 11, ColumnAlign::Right, "ns",
     ColumnShow::OnDemand},
    {"p90", "90th percentile of the samples, within 0.1 %.", 11, ColumnAlign::Right, "ns"},
    {"p99", "99th percentile of the samples, within 0.1 %.", 11, ColumnAlign::Right, "ns"},
    {"Max", "Longest sample.", 11, ColumnAlign::Right, "ns"},
    {"Samples", "Number of samples in the selected range of replays.", 9, ColumnAlign::Right},
    {"Lost", "Samples without a valid timing.", 7, ColumnAlign::Right, "", ColumnShow::OnDemand},
    {"Slack", "Time by which the node can grow without extending the critical path, from medians.",
     11, ColumnAlign::Right, "ns"},
    {"Critical", "Marks nodes on the critical path, from medians.", 8, ColumnAlign::Right},
    {"Kind", "Work of the kernel by its name, such as GEMM; otherwise the kind of the node.", 11,
     ColumnAlign::Left},
    {"Label", "Path of debug labels.", 20, ColumnAlign::Left},
    {"Kernel", "Kernel name.", 18, ColumnAlign::Left},
    {"Grid", "Grid dimensions, in blocks.", 10, ColumnAlign::Right},
    {"Block", "Block dimensions, in threads.", 10, ColumnAlign::Right},
    {"Bytes", "Bytes that a copy, fill or update writes.", 10, ColumnAlign::Right, "bytes"},
    {"Throughput", "Bytes divided by the median duration.", 12, ColumnAlign::Right, "bytes/s"},
    {"Source", "Source location of the recorded command.", 22, ColumnAlign::Left},
};
static_assert(std::size(kNodeColumnInfos) == kNodeColumns);

std::string extent_text(const std::uint32_t (&size)[3]) {
  if (size[0] == 0 && size[1] == 0 && size[2] == 0) return {};
  std::string text = count_text(size[0]);
  if (size[1] > 1 || size[2] > 1) text += " x " + count_text(size[1]);
  if (size[2] > 1) text += " x " + count_text(size[2]);
  return text;
}

double product(const std::uint32_t (&size)[3]) {
  if (size[0] == 0) return -1;
  return static_cast<double>(size[0]) * std::max(1u, size[1]) * std::max(1u, size[2]);
}

// The statistic for a column of durations; null if the node has no samples.
const double* duration_of(const GraphViewModel::Node& node, NodeColumn column) {
  if (column == NodeColumn::Slack) return &node.slack;
  if (node.count == 0) return nullptr;
  switch (column) {
    case NodeColumn::Median: return &node.median;
    case NodeColumn::P10: return &node.p10;
    case NodeColumn::P90: return &node.p90;
    case NodeColumn::P99: return &node.p99;
    case NodeColumn::Max: return &node.max;
    default: return nullptr;
  }
}

bool is_duration(NodeColumn column) {
  switch (column) {
    case NodeColumn::Median:
    case NodeColumn::P10:
    case NodeColumn::P90:
    case NodeColumn::P99:
    case NodeColumn::Max:
    case NodeColumn::Slack: return true;
    default: return false;
  }
}

double bytes_per_second(const model::Graph& graph, const GraphViewModel* view_model,
                        std::uint32_t node) {
  const std::uint64_t bytes = graph.record().nodes[node].bytes;
  const double median = view_model == nullptr ? 0 : view_model->nodes[node].median;
  return bytes == 0 || median <= 0 ? -1 : static_cast<double>(bytes) / median * 1e9;
}

std::string throughput_text(double bytes_per_second) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f GB/s", bytes_per_second < 10e9 ? 2 : 1,
                bytes_per_second / 1e9);
  return text;
}

}  // namespace

std::span<const TableColumn> node_columns() { return kNodeColumnInfos; }

std::string column_text(double nanoseconds, double scale) {
  const double unit = scale >= 1e9 ? 1e9 : scale >= 1e6 ? 1e6 : scale >= 1e3 ? 1e3 : 1;
  // Four digits: percentiles are known within 0.1 %.
  const auto decimals_of = [&](double value) {
    const double scaled = std::abs(value / unit);
    return unit == 1 ? 0 : scaled >= 999.5 ? 0 : scaled >= 99.95 ? 1 : scaled >= 9.995 ? 2 : 3;
  };
  const int column = decimals_of(scale), decimals = std::min(column, decimals_of(nanoseconds));
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, nanoseconds / unit);
  std::string number = text;
  const std::size_t start = number.find_first_of("0123456789");
  for (std::size_t at = std::min(number.find('.'), number.size()); at > start + 3; at -= 3)
    number.insert(at - 3, 1, ',');
  // The decimal points of a column are below each other.
  number.append(static_cast<std::size_t>(column - decimals + (decimals == 0 && column > 0 ? 1 : 0)),
                ' ');
  return number + (unit == 1e9 ? " s" : unit == 1e6 ? " ms" : unit == 1e3 ? " us" : " ns");
}

ColumnScales column_scales(const GraphViewModel& view_model) {
  ColumnScales scales{};
  std::vector<double> values;
  for (std::size_t i = 0; i < kNodeColumns; ++i) {
    const auto column = static_cast<NodeColumn>(i);
    if (!is_duration(column)) continue;
    values.clear();
    for (const GraphViewModel::Node& node : view_model.nodes) {
      if (const double* value = duration_of(node, column); value != nullptr && *value > 0)
        values.push_back(*value);
    }
    if (values.empty()) continue;
    // The third quartile selects the unit. With the maximum, one outlier would make all other
    // values appear as 0.000.
    const auto quartile = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 3 / 4);
    std::nth_element(values.begin(), quartile, values.end());
    scales[i] = *quartile;
  }
  return scales;
}

double node_number(const model::Graph& graph, const GraphViewModel* view_model, NodeColumn column,
                   std::uint32_t node) {
  const trace::Node& record = graph.record().nodes[node];
  switch (column) {
    case NodeColumn::Id: return node;
    case NodeColumn::Grid: return product(record.grid);
    case NodeColumn::Block: return product(record.block);
    case NodeColumn::Bytes: return record.bytes == 0 ? -1 : static_cast<double>(record.bytes);
    case NodeColumn::Throughput: return bytes_per_second(graph, view_model, node);
    case NodeColumn::Name:
    case NodeColumn::Kind:
    case NodeColumn::Label:
    case NodeColumn::Kernel:
    case NodeColumn::Source: return -1;
    default: break;
  }
  if (view_model == nullptr || view_model->samples == 0) return -1;
  const GraphViewModel::Node& statistics = view_model->nodes[node];
  switch (column) {
    case NodeColumn::Share: return statistics.count == 0 ? -1 : statistics.share;
    case NodeColumn::Spread:
      return statistics.count == 0 || statistics.median <= 0
                 ? -1
                 : (statistics.p90 - statistics.p10) / statistics.median;
    case NodeColumn::Samples: return static_cast<double>(statistics.count);
    case NodeColumn::Lost: return static_cast<double>(statistics.lost);
    case NodeColumn::Critical: return statistics.is_critical ? 1 : 0;
    default: {
      const double* value = duration_of(statistics, column);
      return value == nullptr ? -1 : *value;
    }
  }
}

bool sorts_by_text(NodeColumn column) {
  return column == NodeColumn::Name || column == NodeColumn::Kind || column == NodeColumn::Label ||
         column == NodeColumn::Kernel || column == NodeColumn::Source;
}

std::string node_text(const model::Graph& graph, const GraphViewModel* view_model,
                      const ColumnScales& scales, NodeColumn column, std::uint32_t node) {
  const trace::Node& record = graph.record().nodes[node];
  switch (column) {
    case NodeColumn::Name: return graph.node_name(node);
    case NodeColumn::Kind: return graph.kind_name(node);
    case NodeColumn::Label: return graph.label_path(record.label);
    case NodeColumn::Kernel: return graph.kernel_name(node);
    case NodeColumn::Grid: return extent_text(record.grid);
    case NodeColumn::Block: return extent_text(record.block);
    case NodeColumn::Source: return source_location_text(graph, record.file, record.line);
    case NodeColumn::Spread: return {};
    default: break;
  }
  const double value = node_number(graph, view_model, column, node);
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

TableCell node_cell(const model::Graph& graph, const GraphViewModel* view_model,
                    const ColumnScales& scales, NodeColumn column, std::uint32_t node) {
  TableCell cell{.text = node_text(graph, view_model, scales, column, node)};
  const bool is_number = !sorts_by_text(column) && column != NodeColumn::Grid &&
                         column != NodeColumn::Block && column != NodeColumn::Critical;
  const double number = is_number ? node_number(graph, view_model, column, node) : -1;
  if (number >= 0) cell.number = number;
  return cell;
}

}  // namespace reprise::viewer
