#include "backend/cuda/cuda_provider.hpp"

#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_device_info.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

std::string version_text(int version) { return concat(version / 1000, ".", version % 1000 / 10); }

std::string too_old_text(int version) {
  return concat("the installed CUDA driver is for CUDA ", version_text(version),
                "; this build needs a driver for CUDA ", version_text(CudaProvider::kMinimumDriver),
                " or newer");
}

}  // namespace

CudaProvider::Detection CudaProvider::detect() const {
  Detection detection;
  int version = 0;
  detection.call = "cudaDriverGetVersion";
  detection.result = probe_.driver_version(&version);
  cuda_ignore(detection.result);
  if (detection.result != cudaSuccess || version == 0) {
    detection.reason = "no CUDA driver is installed on this machine (libcuda.so.1 was not found)";
    return detection;
  }
  if (version < kMinimumDriver) {
    detection.found = Found::DriverTooOld;
    detection.reason = too_old_text(version);
    return detection;
  }
  int count = 0;
  detection.call = "cudaGetDeviceCount";
  detection.result = probe_.device_count(&count);
  cuda_ignore(detection.result);
  if (detection.result == cudaErrorInsufficientDriver) {
    detection.found = Found::DriverTooOld;
    detection.reason = too_old_text(version);
    return detection;
  }
  if (detection.result == cudaErrorNoDevice || (detection.result == cudaSuccess && count == 0)) {
    detection.found = Found::NoDevice;
    detection.reason = concat("the CUDA driver (for CUDA ", version_text(version),
                              ") sees no GPU on this machine");
    return detection;
  }
  if (detection.result != cudaSuccess) {
    detection.reason = concat("the CUDA driver (for CUDA ", version_text(version),
                              ") failed to initialise: ", cudaGetErrorName(detection.result), ", ",
                              cudaGetErrorString(detection.result));
    return detection;
  }
  try {
    for (int ordinal = 0; ordinal < count; ++ordinal)
      detection.devices.push_back(cuda_device_info(ordinal, version));
    detection.found = Found::Devices;
  } catch (const Error& error) {
    detection.devices.clear();
    detection.found =
        error.code() == ErrorCode::DriverTooOld ? Found::DriverTooOld : Found::NoDriver;
    detection.result = static_cast<cudaError_t>(error.details().native_code);
    detection.reason = error.what();
  }
  return detection;
}

const CudaProvider::Detection& CudaProvider::detection() {
  std::call_once(detected_, [this] {
    detection_ = detect();
    contexts_.resize(detection_.devices.size());
  });
  return detection_;
}

std::vector<DeviceInfo> CudaProvider::devices() { return detection().devices; }

std::string CudaProvider::unavailable_reason() { return detection().reason; }

void CudaProvider::require_driver() {
  const Detection& found = detection();
  if (found.found == Found::Devices || found.found == Found::NoDevice) return;
  ErrorDetails details;
  details.code = found.found == Found::NoDriver ? ErrorCode::NoDriver : ErrorCode::DriverTooOld;
  details.stage = Stage::Open;
  if (found.result != cudaSuccess) {
    details.native_call = found.call;
    details.native_code = found.result;
    details.native_name = cudaGetErrorName(found.result);
  }
  throw Error(std::move(details), found.reason);
}

CUcontext CudaProvider::primary_context(int ordinal, DeviceStatus& status) {
  const std::lock_guard lock(mutex_);
  CUcontext& context = contexts_[static_cast<std::size_t>(ordinal)];
  if (context == nullptr) {
    const CudaDriver& driver = CudaDriver::get();
    const RelaxedCapture relaxed(driver);
    const CallContext call{Stage::Open, &status};
    CUdevice device = 0;
    cuda_check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet", call);
    cuda_check(driver.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain", call);
  }
  return context;
}

std::unique_ptr<Backend> CudaProvider::open(std::uint32_t index,
                                            std::shared_ptr<DeviceStatus> status) {
  const std::vector<DeviceInfo>& devices = detection().devices;
  if (index >= devices.size()) {
    ErrorDetails details;
    details.code = ErrorCode::UnknownDevice;
    details.stage = Stage::Open;
    throw Error(std::move(details), concat("GPU ", index, " does not exist; this machine has ",
                                           devices.size(), devices.size() == 1 ? " GPU" : " GPUs"));
  }
  const int ordinal = static_cast<int>(index);
  const CUcontext handle = primary_context(ordinal, *status);
  auto context = std::make_shared<CudaContext>(
      CudaContext{CudaDriver::get(), ordinal, handle, std::move(status), devices[index], {}});
  const SetupScope scope(*context, Stage::Open);
  context->pools =
      std::make_shared<const CudaMemoryPools>(ordinal, context->at(Stage::Open, "memory pools"));
  DeviceLimits& limits = context->info.limits;
  cuda_check(cudaDeviceGetStreamPriorityRange(&limits.lowest_queue_priority,
                                              &limits.highest_queue_priority),
             "cudaDeviceGetStreamPriorityRange", context->at(Stage::Open));
  return std::make_unique<CudaBackend>(std::move(context));
}

BackendProvider& cuda_provider() {
  static CudaProvider provider;
  return provider;
}

}  // namespace reprise::detail
