#include "backend/cuda/cuda_device_info.hpp"

#include <algorithm>
#include <cstring>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "base/text.hpp"
#include "lowering/segment.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {
namespace {

constexpr CallContext kContext{Stage::Open};
constexpr std::uint32_t kParameterBytes = 4096;
// Compute capability >= 7.0 and driver >= 12.1.
constexpr std::uint32_t kLargeParameterBytes = 32764;
constexpr int kLargeParametersDriver = 12010;
constexpr std::uint32_t kIfAndWhileDriver = 12040, kElseAndSwitchDriver = 12080;
constexpr std::uint32_t kPortableClusterBlocks = 8;  // compute capability >= 9.0

std::uint32_t attribute(int ordinal, cudaDeviceAttr which) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute", kContext);
  return static_cast<std::uint32_t>(std::max(value, 0));
}

DeviceLimits::Conditionals conditionals_of(std::uint32_t driver_version) {
  if (driver_version >= kElseAndSwitchDriver) return DeviceLimits::Conditionals::All;
  return driver_version >= kIfAndWhileDriver ? DeviceLimits::Conditionals::Basic
                                             : DeviceLimits::Conditionals::None;
}

DeviceLimits limits_of(int ordinal, const DeviceInfo& info) {
  DeviceLimits limits;
  limits.max_grid = {attribute(ordinal, cudaDevAttrMaxGridDimX),
                     attribute(ordinal, cudaDevAttrMaxGridDimY),
                     attribute(ordinal, cudaDevAttrMaxGridDimZ)};
  limits.max_block = {attribute(ordinal, cudaDevAttrMaxBlockDimX),
                      attribute(ordinal, cudaDevAttrMaxBlockDimY),
                      attribute(ordinal, cudaDevAttrMaxBlockDimZ)};
  limits.max_block_threads = attribute(ordinal, cudaDevAttrMaxThreadsPerBlock);
  limits.max_shared_bytes = attribute(ordinal, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const bool large = info.compute_major >= 7 &&
                     info.driver_version >= static_cast<std::uint32_t>(kLargeParametersDriver);
  limits.max_parameter_bytes = large ? kLargeParameterBytes : kParameterBytes;
  limits.max_cluster_blocks =
      attribute(ordinal, cudaDevAttrClusterLaunch) != 0 ? kPortableClusterBlocks : 0;
  limits.max_cooperative_blocks =
      attribute(ordinal, cudaDevAttrCooperativeLaunch) != 0
          ? info.multiprocessors * attribute(ordinal, cudaDevAttrMaxBlocksPerMultiprocessor)
          : 0;
  // Persistent kernels copy their records asynchronously, and all their blocks have to be resident,
  // which other processes may prevent that share the GPU by MPS.
  constexpr int kFirstWithAsyncCopies = 8;
  limits.max_segment_blocks = static_cast<int>(info.compute_major) >= kFirstWithAsyncCopies &&
                                      limits.max_cooperative_blocks != 0 &&
                                      attribute(ordinal, cudaDevAttrMpsEnabled) == 0
                                  ? info.multiprocessors * kSegmentThreads / kMinSegmentThreads
                                  : 0;
  limits.max_pitch = attribute(ordinal, cudaDevAttrMaxPitch);
  limits.buffer_alignment = 256;  // guaranteed by CUDA's allocators
  limits.conditionals = conditionals_of(info.driver_version);
  return limits;
}

}  // namespace

DeviceInfo cuda_device_info(int ordinal, int driver_version) {
  const CudaDriver& driver = CudaDriver::get();
  CUdevice device = 0;
  cuda_check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet", kContext);
  char name[256] = {};
  cuda_check(driver.cuDeviceGetName(name, sizeof name - 1, device), "cuDeviceGetName", kContext);
  CUuuid uuid = {};
  cuda_check(driver.cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid", kContext);
  std::size_t memory = 0;
  cuda_check(driver.cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem", kContext);

  DeviceInfo info;
  info.name = name;
  info.selector = concat("cuda:", ordinal);
  info.kind = DeviceKind::Cuda;
  static_assert(sizeof uuid.bytes == sizeof info.uuid);
  std::memcpy(info.uuid.data(), uuid.bytes, info.uuid.size());
  info.compute_major = attribute(ordinal, cudaDevAttrComputeCapabilityMajor);
  info.compute_minor = attribute(ordinal, cudaDevAttrComputeCapabilityMinor);
  info.multiprocessors = attribute(ordinal, cudaDevAttrMultiProcessorCount);
  info.memory_bytes = memory;
  info.driver_version = static_cast<std::uint32_t>(driver_version);
  info.limits = limits_of(ordinal, info);
  return info;
}

}  // namespace reprise::detail
