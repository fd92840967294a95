// A schedule from that of a recording which is nearly the same: only commands that touch bytes which other commands touch now are looked at again.
// A pure function.
#pragma once

#include <optional>

#include "schedule/schedule.hpp"

namespace reprise::detail {

// What build_schedule(now) gives, all of it, made from what it gave of `before`. Nothing where that would be no less work, and where it is not
// known how to: barriers, edges and rows with gaps in either, or another ordering than Inferred.
[[nodiscard]] std::optional<Schedule> reschedule(const Recording& now, const Recording& before, const Schedule& schedule_before);

}  // namespace reprise::detail
