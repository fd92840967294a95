// Helpers of GPU ops: the current device, and conversion of CUDA codes to Error. Threads: a
// CurrentOrdinal belongs to its thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

#include "ops/failure.hpp"

namespace reprise::ops {

inline void check_cuda(std::string_view op, cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  refuse_native(op, call, result, cudaGetErrorName(result));
}

// Makes the device current in this thread for its lifetime. The thread's calls do not invalidate
// stream captures of other code meanwhile.
class CurrentOrdinal {
 public:
  CurrentOrdinal(std::string_view op, std::uint32_t ordinal) {
    check_cuda(op, cudaGetDevice(&before_), "cudaGetDevice");
    check_cuda(op, cudaSetDevice(static_cast<int>(ordinal)), "cudaSetDevice");
    exchanged_ = cudaThreadExchangeStreamCaptureMode(&mode_) == cudaSuccess;
  }
  CurrentOrdinal(const CurrentOrdinal&) = delete;
  CurrentOrdinal& operator=(const CurrentOrdinal&) = delete;
  ~CurrentOrdinal() {
    if (exchanged_) static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
    if (cudaSetDevice(before_) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }

 private:
  int before_ = 0;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  bool exchanged_ = false;
};

}  // namespace reprise::ops
