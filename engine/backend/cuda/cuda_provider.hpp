// CudaProvider: detects a usable CUDA driver and GPUs and reports why there is none. Threads: any.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace reprise::detail {

// The two calls that detect a GPU. Tests replace them.
struct DriverProbe {
  cudaError_t (*driver_version)(int* version) = &cudaDriverGetVersion;  // 0: no driver
  cudaError_t (*device_count)(int* count) = &cudaGetDeviceCount;
};

class CudaProvider final : public BackendProvider {
 public:
  // The oldest driver that this build supports, in CUDA's encoding: 13000 for 13.0.
  static constexpr int kMinimumDriver =
      CUDART_VERSION / 1000 * 1000 >= 13000 ? CUDART_VERSION / 1000 * 1000 : 12040;

  explicit CudaProvider(const DriverProbe& probe = {}) : probe_(probe) {}

  [[nodiscard]] std::vector<DeviceInfo> devices() override;
  [[nodiscard]] std::string unavailable_reason() override;
  [[nodiscard]] std::unique_ptr<Backend> open(std::uint32_t index,
                                              std::shared_ptr<DeviceStatus> status) override;
  void require_driver() override;

 private:
  enum class Found { NoDriver, DriverTooOld, NoDevice, Devices };
  struct Detection {
    Found found = Found::NoDriver;
    std::string reason;                // empty if there are devices
    cudaError_t result = cudaSuccess;  // of the failing call
    const char* call = "";
    std::vector<DeviceInfo> devices;
  };
  const Detection& detection();
  [[nodiscard]] Detection detect() const;
  [[nodiscard]] CUcontext primary_context(int ordinal, DeviceStatus& status);

  DriverProbe probe_;
  std::once_flag detected_;
  Detection detection_;
  std::mutex mutex_;
  // By ordinal; null until opened, then retained until the process ends.
  std::vector<CUcontext> contexts_;
};

}  // namespace reprise::detail
