// The columns of the node table: names, tooltips, and the value of each cell as text and as a sort
// key. Performs no drawing. Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "panels/shared/panel_context.hpp"
#include "panels/widgets/table_columns.hpp"

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
  Max,
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

// All columns, in NodeColumn order.
[[nodiscard]] std::span<const TableColumn> node_columns();

// For each column of durations, the value (ns) that selects the unit of all cells; 0 for other
// columns.
using ColumnScales = std::array<double, kNodeColumns>;
[[nodiscard]] ColumnScales column_scales(const GraphViewModel& view_model);

// The sort key of a numeric column; negative: unknown, sorts last. `view_model` may be null.
[[nodiscard]] double node_number(const model::Graph& graph, const GraphViewModel* view_model,
                                 NodeColumn column, std::uint32_t node);
// True for columns that sort by their text.
[[nodiscard]] bool sorts_by_text(NodeColumn column);
// The text of a cell; empty if the value is unknown. `view_model` may be null.
[[nodiscard]] std::string node_text(const model::Graph& graph, const GraphViewModel* view_model,
                                    const ColumnScales& scales, NodeColumn column,
                                    std::uint32_t node);

// A duration in the unit that suits `scale` (ns), and with at most its decimals, so that the cells
// of a column match. Four digits are known; spaces stand for decimals that are not.
[[nodiscard]] std::string column_text(double nanoseconds, double scale);

// The cell without colours.
[[nodiscard]] TableCell node_cell(const model::Graph& graph, const GraphViewModel* view_model,
                                  const ColumnScales& scales, NodeColumn column,
                                  std::uint32_t node);

}  // namespace reprise::viewer
