// DriverCalls: entry points for inspecting the program's graphs, obtained from the driver that the
// process has loaded. Links no CUDA library. Threads: immutable after load().
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace reprise::detail {

// X(call, CUDA version of the wanted signature)
#define REPRISE_DRIVER_CALLS(X)               \
  X(cuCtxGetDevice, 2000)                     \
  X(cuDeviceGetName, 2000)                    \
  X(cuDeviceGetUuid, 11040)                   \
  X(cuDeviceTotalMem, 3020)                   \
  X(cuDeviceGetAttribute, 2000)               \
  X(cuMemGetInfo, 3020)                       \
  X(cuStreamGetId, 12000)                     \
  X(cuThreadExchangeStreamCaptureMode, 10010) \
  X(cuGraphGetNodes, 10000)                   \
  X(cuGraphGetEdges, 12030)                   \
  X(cuGraphNodeGetType, 10000)                \
  X(cuGraphKernelNodeGetParams, 12000)        \
  X(cuGraphMemcpyNodeGetParams, 10000)        \
  X(cuGraphMemsetNodeGetParams, 10000)        \
  X(cuGraphMemAllocNodeGetParams, 11040)      \
  X(cuGraphChildGraphNodeGetGraph, 10000)     \
  X(cuKernelGetFunction, 12000)               \
  X(cuFuncGetName, 12030)                     \
  X(cuFuncGetParamInfo, 12040)                \
  X(cuFuncGetAttribute, 2020)

struct DriverCalls {
#define REPRISE_X(call, version) decltype(&::call) call = nullptr;
  REPRISE_DRIVER_CALLS(REPRISE_X)
#undef REPRISE_X

  // cuGraphGetEdges with the signature of CUDA 12.3; older headers declare another type.
  using GetEdges = CUresult(CUDAAPI*)(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*,
                                      std::size_t*);
  [[nodiscard]] GetEdges get_edges() const noexcept {
    return reinterpret_cast<GetEdges>(reinterpret_cast<void*>(cuGraphGetEdges));
  }

  struct Loaded {
    const DriverCalls* calls = nullptr;  // null: unavailable
    std::string why_not = {};
  };
  // Uses the driver that this process has loaded. The result is never destroyed.
  [[nodiscard]] static Loaded load();
};

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
