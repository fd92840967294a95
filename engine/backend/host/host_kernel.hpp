// HostKernel: the host device's side of a loaded kernel; the limits of its launches. Threads:
// immutable.
#pragma once

#include <reprise/device_info.hpp>

#include "record/kernel_core.hpp"

namespace reprise::detail {

struct HostKernel final : BackendKernel {
  HostKernel(HostKernelFunction f, bool checked) noexcept : function(f), is_checked(checked) {}
  HostKernelFunction function;
  bool is_checked;  // reports its accesses
};

[[nodiscard]] const DeviceLimits& host_limits() noexcept;

}  // namespace reprise::detail
