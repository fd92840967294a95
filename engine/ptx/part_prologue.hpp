// Writes the text before and after the statements of a part: it loads the values that they read
// from the record, waits at the barrier that precedes the part, and joins the threads at the end.
// Knows neither the statements nor the loop. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace reprise::detail {

// The registers that the statements of a part read, and the way in which they end.
struct PartNeeds {
  bool has_full_warps = false;                     // as in PersistentPart
  bool is_one_dimensional = false;                 // as in PersistentPart
  bool has_inline_parameters = true;               // else they read %rp_par
  std::unordered_set<std::string> registers = {};  // tidx: %rp_tidx; also ntid, ctaid and nctaid
  bool reads_dynamic_size = false;                 // %rp_dynamic, bytes of dynamic shared memory
  bool counts_threads = false;    // %rp_count, threads at a barrier: those of whole warps
  bool emulates_masks = false;    // %rp_warp, the warp's two words, and %rp_present if partial
  bool has_async_copies = false;  // which the end of a kernel waits for
  bool ends_together = false;     // returned threads still arrive at barriers; counts_threads
};

// Defines the registers.
[[nodiscard]] std::string part_prologue(const PartNeeds& needs);

// Follows the barrier that precedes the part.
[[nodiscard]] std::string part_start(const PartNeeds& needs);

// Defines $RP_RETURN, to which the statements branch. All threads leave together.
[[nodiscard]] std::string part_epilogue(const PartNeeds& needs);

}  // namespace reprise::detail
