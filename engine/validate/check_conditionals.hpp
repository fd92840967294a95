// The rules about conditions and what they decide, over a recording and everything that it runs. A
// pure function.
#pragma once

#include <reprise/device_info.hpp>

#include "validate/findings.hpp"

namespace reprise::detail {

[[nodiscard]] bool has_condition(const Recording& recording) noexcept;
// Each condition that is set decides exactly one conditional, and the device has such conditionals.
void check_conditionals(const Recording& recording, const DeviceLimits& limits, Findings& findings);

}  // namespace reprise::detail
