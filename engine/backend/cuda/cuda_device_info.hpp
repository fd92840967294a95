// Reads CUDA's description of one GPU as DeviceInfo. Creates no context. Threads: any.
#pragma once

#include <reprise/device_info.hpp>

namespace reprise::detail {

// `driver_version` in CUDA's encoding: 13000 for 13.0. Throws Error (Stage::Open).
[[nodiscard]] DeviceInfo cuda_device_info(int ordinal, int driver_version);

}  // namespace reprise::detail
