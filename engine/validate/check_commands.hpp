// Rules about a single command or handle. Threads: pure functions of the recording and the device
// limits.
#pragma once

#include <reprise/device_info.hpp>

#include "validate/findings.hpp"

namespace reprise::detail {

// Checks the buffers, kernels and edges of the recording: stale, foreign or unknown handles.
void check_handles(const Recording& recording, Findings& findings);
void check_commands(const Recording& recording, const DeviceLimits& limits, Findings& findings);
// Checks one command, which must be a dispatch.
void check_dispatch(const Recording& recording, std::uint32_t command, const DeviceLimits& limits,
                    Findings& findings);

}  // namespace reprise::detail
