// CudaDriver: driver calls that the runtime API lacks or that must not touch the runtime's error
// state. The table is loaded through the runtime, so a program starts without a driver. No other
// file names driver entry points. Threads: immutable once loaded.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "profile/activity/graph_calls.hpp"

namespace reprise::detail {

// X(call, CUDA version of the wanted signature); see GraphCalls for those that read graphs
#define REPRISE_CUDA_DRIVER_CALLS(X)                     \
  X(cuGetErrorName, 6000)                                \
  X(cuDeviceGet, 2000)                                   \
  X(cuDeviceGetName, 2000)                               \
  X(cuDeviceGetUuid, 11040)                              \
  X(cuDeviceTotalMem, 3020)                              \
  X(cuDeviceGetAttribute, 2000)                          \
  X(cuMemGetAllocationGranularity, 10020)                \
  X(cuMemAddressReserve, 10020)                          \
  X(cuMemAddressFree, 10020)                             \
  X(cuMemCreate, 10020)                                  \
  X(cuMemRelease, 10020)                                 \
  X(cuMemMap, 10020)                                     \
  X(cuMemUnmap, 10020)                                   \
  X(cuMemSetAccess, 10020)                               \
  X(cuDevicePrimaryCtxRetain, 7000)                      \
  X(cuCtxGetCurrent, 4000)                               \
  X(cuCtxPushCurrent, 4000)                              \
  X(cuCtxPopCurrent, 4000)                               \
  X(cuCtxRecordEvent, 12050)                             \
  X(cuPointerGetAttributes, 7000)                        \
  X(cuStreamCreate, 2000)                                \
  X(cuStreamCreateWithPriority, 5050)                    \
  X(cuStreamDestroy, 4000)                               \
  X(cuStreamGetCtx, 9020)                                \
  X(cuStreamIsCapturing, 10000)                          \
  X(cuStreamBeginCapture, 10010)                         \
  X(cuStreamEndCapture, 10000)                           \
  X(cuStreamWaitEvent, 3020)                             \
  X(cuEventCreate, 2000)                                 \
  X(cuEventDestroy, 4000)                                \
  X(cuEventRecord, 2000)                                 \
  X(cuEventQuery, 2000)                                  \
  X(cuEventSynchronize, 2000)                            \
  X(cuKernelGetName, 12030)                              \
  X(cuLibraryGetGlobal, 12000)                           \
  X(cuFuncLoad, 12040)                                   \
  X(cuFuncSetAttribute, 9000)                            \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)   \
  X(cuOccupancyMaxActiveClusters, 11070)                 \
  X(cuGraphKernelNodeGetAttribute, 11000)                \
  X(cuGraphHostNodeGetParams, 10000)                     \
  X(cuGraphMemFreeNodeGetParams, 11040)                  \
  X(cuGraphEventRecordNodeGetEvent, 11010)               \
  X(cuGraphEventWaitNodeGetEvent, 11010)                 \
  X(cuGraphExternalSemaphoresSignalNodeGetParams, 11020) \
  X(cuGraphExternalSemaphoresWaitNodeGetParams, 11020)   \
  X(cuGraphDebugDotPrint, 11030)                         \
  X(cuGraphAddKernelNode, 12000)                         \
  X(cuGraphKernelNodeSetParams, 12000)                   \
  X(cuGraphKernelNodeSetAttribute, 11000)                \
  X(cuGraphExecKernelNodeSetParams, 12000)               \
  X(cuLaunchKernel, 4000)                                \
  X(cuMemcpyHtoDAsync, 3020)                             \
  X(cuGraphUpload, 11010)                                \
  X(cuGraphLaunch, 10000)

struct CudaDriver : GraphCalls {
#define REPRISE_X(call, version) decltype(&::call) call = nullptr;
  REPRISE_CUDA_DRIVER_CALLS(REPRISE_X)
#undef REPRISE_X

  // The table of this process, loaded by the first call. Throws DriverTooOld (Stage::Open) naming
  // the missing call. Requires a usable driver.
  [[nodiscard]] static const CudaDriver& get();
  // Null if the table is not loaded. For error paths.
  [[nodiscard]] static const CudaDriver* loaded() noexcept;
};

}  // namespace reprise::detail
