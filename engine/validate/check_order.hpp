// Rules about pairs of commands: unordered conflicts, barriers that order nothing, and early reads
// of transients. They ignore edges that later stages add. Threads: pure functions of the recording.
#pragma once

#include "validate/findings.hpp"

namespace reprise::detail {

// Reports nothing for a recording with a dependency cycle; build_dependencies() throws for it.
void check_order(const Recording& recording, Findings& findings);

}  // namespace reprise::detail
