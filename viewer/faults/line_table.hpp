// Finds source lines in a DWARF line table (.debug_line, versions 2 to 5). Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "faults/elf_file.hpp"

namespace reprise::faults {

struct SourceLine {
  std::string file;        // empty: unknown
  std::uint32_t line = 0;  // 0: unknown
};

// The line of the instruction at `address`. `texts` is .debug_line_str. Unknown where the table
// does not contain the address, or its bytes are not as DWARF states them.
[[nodiscard]] SourceLine find_line(Bytes table, Bytes texts, std::uint64_t address);

}  // namespace reprise::faults
