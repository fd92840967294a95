// The CSV files of buffer lifetimes that `reprise plan` reads and writes. Knows no planner.
// Threads: values and pure functions.
//
// The first line names the columns, in any order and case: id (or buffer), lower (or start), upper
// (or end), size, and optionally alignment. Other columns are preserved and ignored. Fields may be
// quoted as in RFC 4180, but must not contain line breaks. Empty lines are ignored.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <reprise/memory_plan.hpp>

namespace reprise::cli {

struct LifetimeTable {
  std::string header;                   // unchanged first line
  std::vector<std::string> lines;       // unchanged, by row
  std::vector<std::string> ids;         // by row
  std::vector<BufferLifetime> buffers;  // by row
};

// Messages name the file `name`. Throws std::runtime_error with the line and column of the first
// invalid field.
[[nodiscard]] LifetimeTable read_lifetimes(std::istream& in, const std::string& name);

// Writes the rows of `table` with an additional last column `offset`. Lines end with "\n".
void write_offsets(std::ostream& out, const LifetimeTable& table,
                   std::span<const std::uint64_t> offsets);

}  // namespace reprise::cli
