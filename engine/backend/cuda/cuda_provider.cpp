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

CudaProvider::Answer CudaProvider::ask() const {
  Answer answer;
  int version = 0;
  answer.call = "cudaDriverGetVersion";
  answer.result = probe_.driver_version(&version);
  cuda_ignore(answer.result);
  if (answer.result != cudaSuccess || version == 0) {
    answer.why = "no CUDA driver is installed on this machine (libcuda.so.1 was not found)";
    return answer;
  }
  if (version < kMinimumDriver) {
    answer.found = Found::DriverTooOld;
    answer.why = too_old_text(version);
    return answer;
  }
  int count = 0;
  answer.call = "cudaGetDeviceCount";
  answer.result = probe_.device_count(&count);
  cuda_ignore(answer.result);
  if (answer.result == cudaErrorInsufficientDriver) {
    answer.found = Found::DriverTooOld;
    answer.why = too_old_text(version);
    return answer;
  }
  if (answer.result == cudaErrorNoDevice || (answer.result == cudaSuccess && count == 0)) {
    answer.found = Found::NoDevice;
    answer.why = concat("the CUDA driver (for CUDA ", version_text(version),
                        ") sees no GPU on this machine");
    return answer;
  }
  if (answer.result != cudaSuccess) {
    answer.why = concat("the CUDA driver (for CUDA ", version_text(version),
                        ") failed to initialise: ", cudaGetErrorName(answer.result), ", ",
                        cudaGetErrorString(answer.result));
    return answer;
  }
  try {
    for (int ordinal = 0; ordinal < count; ++ordinal)
      answer.devices.push_back(cuda_device_info(ordinal, version));
    answer.found = Found::Devices;
  } catch (const Error& error) {
    answer.devices.clear();
    answer.found = error.code() == ErrorCode::DriverTooOld ? Found::DriverTooOld : Found::NoDriver;
    answer.result = static_cast<cudaError_t>(error.details().native_code);
    answer.why = error.what();
  }
  return answer;
}

const CudaProvider::Answer& CudaProvider::answer() {
  std::call_once(asked_, [this] {
    answer_ = ask();
    contexts_.resize(answer_.devices.size());
  });
  return answer_;
}

std::vector<DeviceInfo> CudaProvider::devices() { return answer().devices; }

std::string CudaProvider::unavailable_reason() { return answer().why; }

void CudaProvider::require_driver() {
  const Answer& found = answer();
  if (found.found == Found::Devices || found.found == Found::NoDevice) return;
  ErrorDetails details;
  details.code = found.found == Found::NoDriver ? ErrorCode::NoDriver : ErrorCode::DriverTooOld;
  details.stage = Stage::Open;
  if (found.result != cudaSuccess) {
    details.native_call = found.call;
    details.native_code = found.result;
    details.native_name = cudaGetErrorName(found.result);
  }
  throw Error(std::move(details), found.why);
}

CUcontext CudaProvider::primary_context(int ordinal, DeviceStatus& status) {
  const std::lock_guard lock(mutex_);
  CUcontext& context = contexts_[static_cast<std::size_t>(ordinal)];
  if (context == nullptr) {
    const CudaDriver& driver = CudaDriver::get();
    const RelaxedCapture relaxed(driver);
    const CallContext place{Stage::Open, &status};
    CUdevice device = 0;
    cuda_check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet", place);
    cuda_check(driver.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain",
               place);
  }
  return context;
}

std::unique_ptr<Backend> CudaProvider::open(std::uint32_t index,
                                            std::shared_ptr<DeviceStatus> status) {
  const std::vector<DeviceInfo>& devices = answer().devices;
  if (index >= devices.size()) {
    ErrorDetails details;
    details.code = ErrorCode::UnknownDevice;
    details.stage = Stage::Open;
    throw Error(std::move(details),
                concat("GPU ", index, " does not exist; this machine has ", devices.size()));
  }
  const int ordinal = static_cast<int>(index);
  const CUcontext handle = primary_context(ordinal, *status);
  return std::make_unique<CudaBackend>(std::make_shared<const CudaContext>(
      CudaContext{CudaDriver::get(), ordinal, handle, std::move(status), devices[index]}));
}

BackendProvider& cuda_provider() {
  static CudaProvider provider;
  return provider;
}

}  // namespace reprise::detail
