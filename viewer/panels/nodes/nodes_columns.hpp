// The columns of the table of nodes: what each is called, explains and says of a node, as text and
// as a number to sort by. Draws nothing. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class NodeColumn : std::uint8_t {
  Name,
  Id,
  Share,
  Median,
  Spread,
  P10,
  P90,
  P99,
  Greatest,
  Samples,
  Lost,
  Slack,
  Critical,
  Kind,
  Label,
  Kernel,
  Grid,
  Block,
  Bytes,
  Throughput,
  Source
};
inline constexpr std::size_t kNodeColumns = static_cast<std::size_t>(NodeColumn::Source) + 1;

enum class CellAlign : std::uint8_t { Left, Right };

struct NodeColumnInfo {
  NodeColumn column = NodeColumn::Name;
  const char *name = "", *explanation = "";
  float characters = 8;  // how wide it starts
  CellAlign align = CellAlign::Right;
  enum class Show : std::uint8_t { Always, AtFirst, OnDemand } show = Show::AtFirst;
};

// In the order in which they stand, which is that of NodeColumn.
[[nodiscard]] std::span<const NodeColumnInfo> node_columns();

// What a column of durations shows all of its values against, in ns, so that they have one unit; 0
// for other columns.
using ColumnScales = std::array<double, kNodeColumns>;
[[nodiscard]] ColumnScales column_scales(const GraphViewModel& view_model);

// What a column sorts by where it is a number; below 0: unknown, which comes last.
[[nodiscard]] double node_number(const model::Graph& graph, const GraphViewModel* view_model,
                                 NodeColumn column, std::uint32_t node);
// True for columns that sort by their text.
[[nodiscard]] bool sorts_by_text(NodeColumn column);
// What stands in the cell; empty: nothing to say. `facts` may be null.
[[nodiscard]] std::string node_text(const model::Graph& graph, const GraphViewModel* view_model,
                                    const ColumnScales& scales, NodeColumn column,
                                    std::uint32_t node);

// All of a column in the unit that suits `scale`, ns, with as many decimals: three to four digits
// of most, more of giants.
[[nodiscard]] std::string column_text(double nanoseconds, double scale);

// A line with the names of the columns, then a line a node, separated by tabs; durations in ns and
// shares as parts, without separators, as programs read them.
[[nodiscard]] std::string nodes_as_tsv(const model::Graph& graph, const GraphViewModel* view_model,
                                       std::span<const std::uint32_t> nodes);

}  // namespace reprise::viewer
