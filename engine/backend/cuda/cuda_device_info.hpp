// What CUDA says of one GPU, as DeviceInfo. Makes no context. Threads: any.
#pragma once

#include <reprise/device_info.hpp>

namespace reprise::detail {

// `driver_version` as CUDA writes it: 13000 for 13.0. Throws Error (Stage::Open).
[[nodiscard]] DeviceInfo cuda_device_info(int ordinal, int driver_version);

}  // namespace reprise::detail
