// Replaces the special registers in the operands of a part by the registers of its prologue. Knows
// no instruction. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "ptx/part_prologue.hpp"
#include "ptx/ptx_module.hpp"

namespace reprise::detail {

struct ReplacedRegisters {
  std::string problem = {};  // why the function cannot be rewritten; empty: it can
  std::string operand = {};
};
// Adds the registers of the result to `needs`. A function that is not an entry has no prologue: it
// cannot read a register that has another value in a part.
[[nodiscard]] ReplacedRegisters replace_registers(std::string_view operand,
                                                  const PtxFunction& function, PartNeeds& needs);

}  // namespace reprise::detail
