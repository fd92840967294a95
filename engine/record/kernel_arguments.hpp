// Checks kernel arguments against the kernel's parameters and stores values in a parameter block.
// Shared by dispatches and by the kernels of ops. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include <reprise/buffer.hpp>
#include <reprise/device_info.hpp>
#include <reprise/error.hpp>
#include <reprise/kernel.hpp>

#include "record/kernel_core.hpp"

namespace reprise::detail {

// The comparison of types that were compiled separately; fits() covers the usual case.
[[nodiscard]] bool types_fit(const KernelParameter& parameter, const Argument& argument);

// Whether the parameter takes the argument. A Condition's view counts as a buffer.
[[nodiscard]] inline bool fits(const KernelParameter& parameter, const Argument& argument) {
  if (argument.view == nullptr) {
    if (parameter.is_pointer || parameter.is_condition) return false;
  } else if (!parameter.is_pointer) {
    return parameter.may_be_pointer || parameter.is_condition;
  } else if (parameter.is_const && argument.is_declared && writes(argument.access)) {
    return false;
  }
  return (argument.type == parameter.type && argument.type != nullptr) ||
         types_fit(parameter, argument);
}

// store_value() of types that were compiled separately.
void store_converted(const KernelParameter& parameter, const Argument& argument, std::byte* to);

// Stores a value that fits; numbers are converted to the parameter's type. `to`: parameter.size
// bytes.
inline void store_value(const KernelParameter& parameter, const Argument& argument, std::byte* to) {
  if (argument.type != parameter.type) {
    store_converted(parameter, argument, to);
    return;
  }
  switch (argument.size) {  // a copy of a known size needs no call
    case 4: std::memcpy(to, argument.value, 4); return;
    case 8: std::memcpy(to, argument.value, 8); return;
    default: std::memcpy(to, argument.value, argument.size);
  }
}

// Why a device with these limits cannot launch the kernel; empty: it can.
[[nodiscard]] std::string launch_fault(const KernelCore& kernel, const Dim3& grid,
                                       const Dim3& block, std::uint32_t shared_bytes,
                                       const DeviceLimits& limits);

struct ArgumentFault {
  ErrorCode code = ErrorCode::ArgumentSize;
  std::string text;
};
// The fault of the number of arguments, or of the first argument that does not fit. Internal if all
// fit.
[[nodiscard]] ArgumentFault argument_fault(const KernelCore& kernel,
                                           std::span<const Argument> arguments);

}  // namespace reprise::detail
