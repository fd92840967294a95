// A CSV file of buffers' lifetimes, as `reprise plan` reads and writes it. Knows no planner.
// Threads: values.
//
// The first line names the columns, in any order and case: id (or buffer), lower (or start), upper
// (or end), size, and alignment if there is one; others are kept and not looked at. Fields may be
// quoted as in RFC 4180, on one line; empty lines do not count.
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
  std::string header;                   // as it was read
  std::vector<std::string> lines;       // the same, a row each
  std::vector<std::string> ids;         // by row
  std::vector<BufferLifetime> buffers;  // by row
};

// `name` is what messages call the file. Throws std::runtime_error naming line and column of the
// first wrong field.
[[nodiscard]] LifetimeTable read_lifetimes(std::istream& in, const std::string& name);

// The same rows with a last column `offset`. Line ends are newlines.
void write_offsets(std::ostream& out, const LifetimeTable& table,
                   std::span<const std::uint64_t> offsets);

}  // namespace reprise::cli
