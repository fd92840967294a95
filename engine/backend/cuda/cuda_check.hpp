// The one door from CUDA's codes to Error: keeps code, name and call text, marks the device lost on
// errors that it does not recover from, and leaves no pending error in the runtime. Threads: any.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

#include <reprise/error.hpp>

#include "record/buffer_core.hpp"

namespace reprise::detail {

// Where a call stands, for the Error that it may become.
struct CallContext {
  Stage stage = Stage::Open;
  DeviceStatus* device = nullptr;  // marked lost by sticky errors; null where no device is at stake
  std::string_view object = {};    // what the call was for, for the text: "kernel saxpy"
};

enum class NativeApi : std::uint8_t { Runtime, Driver };

// After it every call of this process on the device fails: illegal address, launch failure, ECC,
// ...
[[nodiscard]] bool is_sticky(std::int64_t code) noexcept;
[[nodiscard]] ErrorCode error_code_of(std::int64_t code) noexcept;
[[noreturn]] void throw_cuda_error(NativeApi api, std::int64_t code, const char* call,
                                   const CallContext& place, std::string_view advice = {});

inline void cuda_check(cudaError_t result, const char* call, const CallContext& place) {
  if (result != cudaSuccess) [[unlikely]]
    throw_cuda_error(NativeApi::Runtime, result, call, place);
}
inline void cuda_check(CUresult result, const char* call, const CallContext& place) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_cuda_error(NativeApi::Driver, result, call, place);
}

// For results that change nothing for the caller (destructors, probes). Takes the pending error
// with it.
inline void cuda_ignore(cudaError_t result) noexcept {
  if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
}
inline void cuda_ignore(CUresult) noexcept {}

}  // namespace reprise::detail
