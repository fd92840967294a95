// Folds a tall drawing with downward edges into columns, so that a chain or a deep network fills
// the view instead of a stripe. Columns end where few edges pass, or anywhere if that shows the
// drawing far larger; those edges lead below the column and up between the columns to the top of
// the next, closer together where they are many. A pure function; linear in ranks, nodes and
// points, times the number of column heights tried, and n log n in the edges between columns.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

// A drawing shown this large can be read: it is not folded to show it larger.
inline constexpr double kReadableZoom = 0.5;

struct FoldDesc {
  const LayoutGraph* graph = nullptr;
  const std::vector<std::uint32_t>* ranks = nullptr;  // per node
  const std::vector<double>*rank_start = nullptr, *rank_end = nullptr;
  Size view = {};        // the drawing should fill
  double min_height = 0;  // of columns, on average; in lower ones, many edges would be long
  float column_gap = 0;  // between columns, at least
  float edge_gap = 0;    // between edges that pass from one column to the next, at most
  float head = 0;        // free space above the first rank of each column
};

// Moves the nodes and routes of a drawing of `size` and updates `size`. Returns the number of
// columns; 1: the drawing is unchanged, because it can be read or because no fold would show it
// noticeably larger.
std::uint32_t fold(const FoldDesc& desc, std::vector<Point>& centres,
                   std::vector<std::vector<Point>>& routes, Size& size);

}  // namespace reprise::viewer
