// HostKernel: the host device's side of a loaded kernel. Threads: immutable.
#pragma once

#include "record/kernel_core.hpp"

namespace reprise::detail {

struct HostKernel final : BackendKernel {
  explicit HostKernel(HostKernelFunction f) noexcept : function(f) {}
  HostKernelFunction function;
};

}  // namespace reprise::detail
