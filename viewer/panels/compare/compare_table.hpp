// CompareTable: the table of a comparison with one row per node of either side. Sorts its rows
// itself. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "panels/compare/compare_choice.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

// Colours of slower and faster nodes; always combined with a shape or text.
[[nodiscard]] ImU32 slower_colour(const Theme& theme);
[[nodiscard]] ImU32 faster_colour(const Theme& theme);

class CompareTable {
 public:
  static constexpr TableSort kInitialSort{2, true};  // by effect

  // Fills the remaining area of the window. `a` and `b`: the compared sections. A click selects the
  // node in the shown graph.
  void draw(PanelContext& context, const std::shared_ptr<const model::GraphComparison>& result,
            const CompareSection& a, const CompareSection& b);
  // Rows of the last draw(), indices in GraphComparison::nodes.
  [[nodiscard]] const std::vector<std::uint32_t>& rows() const noexcept { return rows_; }

 private:
  void make_rows(const PanelContext& context,
                 const std::shared_ptr<const model::GraphComparison>& result,
                 const CompareSection& a, const CompareSection& b);

  [[nodiscard]] TableCell compared_cell(const Theme& theme, const model::GraphComparison& result,
                                        const model::ComparedNode& node, int column) const;

  TableSort sort_ = kInitialSort, rows_sort_ = kInitialSort;
  std::shared_ptr<const model::GraphComparison> rows_result_;
  std::vector<std::uint8_t> matches_;
  model::GraphKey shown_;
  std::vector<std::uint32_t> rows_;                 // indices in GraphComparison::nodes
  double typical_median_ = 0, largest_effect_ = 0;  // ns, of the rows
};

}  // namespace reprise::viewer
