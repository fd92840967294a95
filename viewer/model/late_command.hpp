// The command that made a rank arrive late at a collective: among the commands that the collective
// waits for and the previous one does not, the one with the max excess over the duration on the
// other ranks. In a body, the first execution also waits for the commands before the nodes that run
// the body. Compares ranks whose graphs have the same structure and names. Threads: pure functions.
#pragma once

#include "model/rank_analysis.hpp"

namespace reprise::model {

struct LateCommand {
  std::uint32_t node = trace::kNone;     // in the graph of the rank; kNone: no command took longer
  trace::Time duration = 0, median = 0;  // of this rank, and of the others; ns
  [[nodiscard]] trace::Time excess() const noexcept { return duration - median; }
};

// The late command of one execution. Reads the samples of its replay. Throws TraceError.
[[nodiscard]] LateCommand late_command(const Document& document,
                                       const CollectiveSummary& collective, std::uint64_t replay,
                                       std::uint32_t occurrence, std::uint32_t rank);
// The late command by medians over all replays.
[[nodiscard]] LateCommand late_command(const Document& document,
                                       const CollectiveSummary& collective, std::uint32_t rank);

}  // namespace reprise::model
