// The rules about pairs of commands: conflicts that nothing orders, barriers that order nothing,
// transients read too early. Pure functions of the recording; they never look at edges that a later
// stage adds.
#pragma once

#include "validate/findings.hpp"

namespace reprise::detail {

// Reports nothing where the recording has no order at all (a cycle), which building its schedule
// throws.
void check_order(const Recording& recording, Findings& findings);

}  // namespace reprise::detail
