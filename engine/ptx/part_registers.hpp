// Rewrites the names in the text of a part: special registers become those of its prologue, and its
// own names keep clear of the generated ones. Knows no instruction. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "ptx/part_prologue.hpp"
#include "ptx/ptx_module.hpp"

namespace reprise::detail {

struct RewrittenNames {
  std::string problem = {};  // why the function cannot be rewritten; empty: it can
  std::string text = {};
};
// Rewrites each name in operands, labels, guards or declarations, outside strings. Adds the
// registers of the result to `needs`. A function that is not an entry has no prologue: it cannot
// read a register that has another value in a part.
//
// All generated names are rp_x, %rp_x or $RP_x, and no rewritten name is: rp_x becomes rpu_x, which
// becomes rpuu_x, and so on. Different names remain different.
[[nodiscard]] RewrittenNames rewrite_names(std::string_view text, const PtxFunction& function,
                                           PartNeeds& needs);

// Whether a part replaces this special register, or generated text inside the part reads it. A
// declaration of a register with its name would hide it.
[[nodiscard]] bool is_register_of_parts(std::string_view name);

}  // namespace reprise::detail
