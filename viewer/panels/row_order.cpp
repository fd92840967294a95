#include "panels/row_order.hpp"

#include <algorithm>

namespace reprise::viewer {

void sort_rows(std::span<std::uint32_t> rows, bool is_descending, const RowLess& less) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return is_descending ? less(b, a) : less(a, b); });
}

}  // namespace reprise::viewer
