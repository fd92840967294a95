// Rows of the Graphs panel: one per graph, and one per family of several graphs, which expands to
// its graphs. Independent of ImGui. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/graph_table.hpp"

namespace reprise::viewer {

enum class GraphColumn : std::uint8_t {
  Name,
  Process,
  Replays,
  Median,
  P99,
  Total,
  Share,
  Latency,
  Gap,
  Nodes,
  Slab,
  Pool,
  Memory,
  LaunchMemory,
  Record,
  Compile,
  Instantiate,
  Upload,
  Versions
};
inline constexpr std::size_t kGraphColumns = static_cast<std::size_t>(GraphColumn::Versions) + 1;

struct GraphOrder {
  GraphColumn by = GraphColumn::Total;
  bool is_descending = true;
  friend bool operator==(const GraphOrder&, const GraphOrder&) = default;
};

struct GraphListRow {
  std::uint32_t family = 0;          // index in GraphTable::families
  std::uint32_t row = trace::kNone;  // index in GraphTable::rows; kNone: the family itself
  bool is_member = false;            // a graph of an expanded family
};

// Families, and the graphs of those whose topology is in `expanded`, sorted. Unknown values come
// last.
[[nodiscard]] std::vector<GraphListRow> graph_rows(const model::GraphTable& table, GraphOrder order,
                                                   const std::set<std::uint64_t>& expanded);
// Empty: unknown, or it does not apply to a family.
[[nodiscard]] std::string graph_text(const model::GraphTable& table, const GraphListRow& row,
                                     GraphColumn column);
// Columns without a value in any row, as bits; Process also if there is only one.
[[nodiscard]] std::uint64_t absent_columns(const model::GraphTable& table);
// The value of a column of numbers, times in ns; empty: unknown, or a range.
[[nodiscard]] std::optional<double> graph_number(const model::GraphTable& table,
                                                 const GraphListRow& row, GraphColumn column);

}  // namespace reprise::viewer
