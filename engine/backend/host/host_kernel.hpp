// HostKernel: the host device's side of a loaded kernel. Threads: immutable.
#pragma once

#include "record/kernel_core.hpp"

namespace reprise::detail {

struct HostKernel final : BackendKernel {
  HostKernel(HostKernelFunction f, bool checked) noexcept : function(f), is_checked(checked) {}
  HostKernelFunction function;
  bool is_checked;  // reports its accesses
};

}  // namespace reprise::detail
