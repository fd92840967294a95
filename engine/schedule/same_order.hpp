// Whether two recordings are ordered alike, found without ordering either. A pure function.
#pragma once

#include "record/recording.hpp"

namespace reprise::detail {

// True only where build_schedule() gives the same of both: commands that touch the same bytes of the buffers of the same numbers, with the same
// barriers and edges between them. What they do there may differ. O(commands + accesses).
[[nodiscard]] bool has_same_order(const Recording& a, const Recording& b);

}  // namespace reprise::detail
