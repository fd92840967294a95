// The rules about one command or one handle. Pure functions of the recording and the device's
// limits.
#pragma once

#include <reprise/device_info.hpp>

#include "validate/findings.hpp"

namespace reprise::detail {

// Buffers, kernels and edges that the recording names: stale, of another device, or not there.
void check_handles(const Recording& recording, Findings& findings);
void check_commands(const Recording& recording, const DeviceLimits& limits, Findings& findings);
// Of one dispatch; the command is one.
void check_dispatch(const Recording& recording, std::uint32_t command, const DeviceLimits& limits,
                    Findings& findings);

}  // namespace reprise::detail
