#include "backend/cuda/cuda_check.hpp"

#include "backend/cuda/cuda_driver.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// Driver and runtime codes have equal values where both exist.
std::string name_of(NativeApi api, std::int64_t code) {
  if (api == NativeApi::Driver) {
    const char* name = nullptr;
    const CudaDriver* driver = CudaDriver::loaded();
    if (driver != nullptr &&
        driver->cuGetErrorName(static_cast<CUresult>(code), &name) == CUDA_SUCCESS &&
        name != nullptr)
      return name;
    return concat("CUresult ", code);
  }
  return cudaGetErrorName(static_cast<cudaError_t>(code));
}

}  // namespace

bool is_sticky(std::int64_t code) noexcept {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice: return true;
    default: return false;
  }
}

ErrorCode error_code_of(std::int64_t code) noexcept {
  if (is_sticky(code)) return ErrorCode::DeviceLost;
  switch (code) {
    case cudaErrorMemoryAllocation: return ErrorCode::OutOfMemory;
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver: return ErrorCode::DriverTooOld;
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady: return ErrorCode::NoDriver;
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorSymbolNotFound: return ErrorCode::KernelNotFound;
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureImplicit: return ErrorCode::CapturingStream;
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorInvalidClusterSize: return ErrorCode::LaunchLimits;
    case cudaErrorNotSupported: return ErrorCode::Unsupported;
    default: return ErrorCode::NativeFailure;
  }
}

void throw_cuda_error(NativeApi api, std::int64_t code, const char* call,
                      const CallContext& context, std::string_view advice) {
  ErrorDetails details;
  details.code = error_code_of(code);
  details.stage = context.stage;
  details.native_call = call;
  details.native_code = code;
  details.native_name = name_of(api, code);
  // The Error contains the code.
  if (api == NativeApi::Runtime) static_cast<void>(cudaGetLastError());
  if (details.code == ErrorCode::DeviceLost && context.device != nullptr)
    context.device->mark_lost();
  std::string text = concat(call, " failed with ", details.native_name, " (", code, ")");
  if (!context.object.empty()) text += concat(" for ", context.object);
  if (context.device != nullptr && !context.device->selector.empty())
    text += concat(" on ", context.device->selector);
  if (details.code == ErrorCode::DeviceLost)
    text += ": the device is lost to this process, which must be restarted to use it";
  if (!advice.empty()) text += concat(": ", advice);
  throw Error(std::move(details), text);
}

}  // namespace reprise::detail
