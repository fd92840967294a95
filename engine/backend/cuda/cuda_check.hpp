// The only conversion from CUDA codes to Error. It keeps code, name and call text, marks the device
// lost on sticky errors, and leaves no pending error in the runtime. Threads: any.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

#include <reprise/error.hpp>

#include "record/buffer_core.hpp"

namespace reprise::detail {

// The context of a call, for the Error on failure.
struct CallContext {
  Stage stage = Stage::Open;
  DeviceStatus* device = nullptr;  // marked lost by sticky errors; null for calls without a device
  std::string_view object = {};    // the subject of the call, for the message: "kernel saxpy"
};

enum class NativeApi : std::uint8_t { Runtime, Driver };

// True for codes after which every call of this process on the device fails: illegal address,
// launch failure, ECC, ...
[[nodiscard]] bool is_sticky(std::int64_t code) noexcept;
[[nodiscard]] ErrorCode error_code_of(std::int64_t code) noexcept;
[[noreturn]] void throw_cuda_error(NativeApi api, std::int64_t code, const char* call,
                                   const CallContext& context, std::string_view advice = {});

inline void cuda_check(cudaError_t result, const char* call, const CallContext& context) {
  if (result != cudaSuccess) [[unlikely]]
    throw_cuda_error(NativeApi::Runtime, result, call, context);
}
inline void cuda_check(CUresult result, const char* call, const CallContext& context) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_cuda_error(NativeApi::Driver, result, call, context);
}

// For results that do not concern the caller (destructors, probes). Clears the pending error.
inline void cuda_ignore(cudaError_t result) noexcept {
  if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
}
inline void cuda_ignore(CUresult) noexcept {}

}  // namespace reprise::detail
