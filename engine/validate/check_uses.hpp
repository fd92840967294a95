// check_uses: warnings about work without effect: transients that no command reads, and writes that
// later commands overwrite before any command reads them. Threads: pure functions.
#pragma once

#include "validate/findings.hpp"

namespace reprise::detail {

// Assumes that commands access what they declare. Never reports what an op, a body or memory of the
// application is involved in.
void check_uses(const Recording& recording, Findings& findings);

}  // namespace reprise::detail
