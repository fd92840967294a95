// find_patterns: sequences of instructions whose result is known better than from their operands
// one by one. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/footprint_program.hpp"

namespace reprise::detail {

// Completes the operands of selections, and replaces what compilers emit for a division by a
// constant, and for a remainder, by one instruction with the same result. `is_target`: by
// instruction, whether a branch leads to it.
void find_patterns(std::vector<FootprintInstruction>& instructions,
                   const std::vector<bool>& is_target, std::uint32_t registers);

}  // namespace reprise::detail
