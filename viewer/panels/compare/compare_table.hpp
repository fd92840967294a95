// The table of a comparison: a row a node that is in either side, with bars to both sides of 0.
// Sorts its rows itself. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "panels/compare/compare_choice.hpp"
#include "panels/compare/compare_result.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

// What "slower" and "faster" are drawn in; beside which a sign or a word always stands.
[[nodiscard]] ImU32 slower_colour(const Theme& theme);
[[nodiscard]] ImU32 faster_colour(const Theme& theme);

class CompareTable {
 public:
  static constexpr TableSort kSortAtFirst{6, true};  // by effect

  // Fills the rest of the window. `a` and `b` are what the result was made of; a click selects the
  // node on whichever side the shown trace has it.
  void draw(PanelContext& context, const std::shared_ptr<const CompareResult>& result,
            const CompareStretch& a, const CompareStretch& b);
  // Of the last draw().
  [[nodiscard]] const std::vector<std::uint32_t>& rows() const noexcept { return rows_; }

 private:
  void make_rows(const PanelContext& context, const std::shared_ptr<const CompareResult>& result,
                 const CompareStretch& a, const CompareStretch& b);

  TableSort sort_ = kSortAtFirst, made_sort_ = kSortAtFirst;
  std::shared_ptr<const CompareResult> made_of_;
  std::vector<std::uint8_t> matches_;
  model::GraphKey shown_;
  std::vector<std::uint32_t> rows_;               // in CompareResult::nodes
  double usual_median_ = 0, largest_effect_ = 0;  // ns, of the rows
};

}  // namespace reprise::viewer
