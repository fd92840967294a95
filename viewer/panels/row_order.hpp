// The order of a table's rows. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace reprise::viewer {

using RowLess = std::function<bool(std::uint32_t, std::uint32_t)>;

// Sorts `rows` by `less`, or by its reverse; rows that compare equal keep their order. Not a template: tables sort by any of
// many columns, and an instance of std::stable_sort for each takes seconds to compile.
void sort_rows(std::span<std::uint32_t> rows, bool is_descending, const RowLess& less);

}  // namespace reprise::viewer
