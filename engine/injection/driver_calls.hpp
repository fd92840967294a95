// DriverCalls: entry points for inspecting the program's graphs, obtained from the driver that the
// process has loaded. Links no CUDA library. Threads: immutable after load().
#pragma once

#include <cuda.h>

#include <string>

#include "profile/activity/graph_calls.hpp"

namespace reprise::detail {

// X(call, CUDA version of the wanted signature); see GraphCalls for those that read graphs
#define REPRISE_DRIVER_CALLS(X) \
  X(cuCtxGetDevice, 2000)       \
  X(cuDeviceGetName, 2000)      \
  X(cuDeviceGetUuid, 11040)     \
  X(cuDeviceTotalMem, 3020)     \
  X(cuDeviceGetAttribute, 2000) \
  X(cuMemGetInfo, 3020)         \
  X(cuStreamGetId, 12000)       \
  X(cuStreamGetCaptureInfo, 12030)

struct DriverCalls : GraphCalls {
#define REPRISE_X(call, version) decltype(&::call) call = nullptr;
  REPRISE_DRIVER_CALLS(REPRISE_X)
#undef REPRISE_X

  struct Loaded {
    const DriverCalls* calls = nullptr;  // null: unavailable
    std::string why_not = {};
  };
  // Uses the driver that this process has loaded. The result is never destroyed.
  [[nodiscard]] static Loaded load();
};

// The driver's own search for its functions. Null: this process has not loaded the driver, or it is
// older than CUDA 12.
using GetProcAddress = CUresult(CUDAAPI*)(const char*, void**, int, cuuint64_t,
                                          CUdriverProcAddressQueryResult*);
struct DriverSearch {
  GetProcAddress find = nullptr;
  std::string why_not = {};
};
[[nodiscard]] DriverSearch driver_search();

// Prevents this thread's calls from invalidating a stream capture in progress.
class QuietCalls {
 public:
  explicit QuietCalls(const DriverCalls& driver)
      : driver_(driver),
        exchanged_(driver.cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS) {}
  QuietCalls(const QuietCalls&) = delete;
  QuietCalls& operator=(const QuietCalls&) = delete;
  ~QuietCalls() {
    if (exchanged_) static_cast<void>(driver_.cuThreadExchangeStreamCaptureMode(&mode_));
  }

 private:
  const DriverCalls& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool exchanged_;
};

}  // namespace reprise::detail
