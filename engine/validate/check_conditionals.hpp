// Rules about conditions and conditionals, in a recording and all of its bodies. Threads: pure
// functions.
#pragma once

#include <reprise/device_info.hpp>

#include "validate/findings.hpp"

namespace reprise::detail {

[[nodiscard]] bool has_condition(const Recording& recording) noexcept;
// Checks that each condition that is set controls exactly one conditional, and that the device
// supports the conditionals.
void check_conditionals(const Recording& recording, const DeviceLimits& limits, Findings& findings);

}  // namespace reprise::detail
