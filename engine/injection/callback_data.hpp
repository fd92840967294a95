// Helpers for reading the data of CUPTI callbacks. Threads: pure functions.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace reprise::detail {

template <class Parameters>
[[nodiscard]] const Parameters& as(const void* parameters) {
  return *static_cast<const Parameters*>(parameters);
}

template <class Handle>
[[nodiscard]] std::uint64_t number_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// True at the exit of a call that returned success.
[[nodiscard]] inline bool succeeded(const CUpti_CallbackData& data) {
  return data.callbackSite == CUPTI_API_EXIT && data.functionReturnValue != nullptr &&
         *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
}

}  // namespace reprise::detail
