// CudaContext: what everything on one GPU shares: its primary context, status and description; and
// the scopes in which calls on it are made. Threads: immutable; a scope belongs to the thread and
// block that it was made in.
#pragma once

#include <reprise/device_info.hpp>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_driver.hpp"

#include <memory>
#include <new>
#include <string_view>

namespace reprise::detail {

struct CudaContext {
  const CudaDriver& driver;
  int ordinal = 0;  // CUDA's number of the device
  CUcontext handle =
      nullptr;  // the primary context, retained until the process ends, as the runtime does
  std::shared_ptr<DeviceStatus> status;
  DeviceInfo info;

  [[nodiscard]] CallContext at(Stage stage, std::string_view object = {}) const {
    return {stage, status.get(), object};
  }
};

// Makes the context current, and what was current before current again. Cheap where it is already.
class DeviceScope {
 public:
  DeviceScope(const CudaContext& context, Stage stage) : context_(context) {
    CUcontext current = nullptr;
    cuda_check(context.driver.cuCtxGetCurrent(&current), "cuCtxGetCurrent", context.at(stage));
    if (current == context.handle) return;
    cuda_check(context.driver.cuCtxPushCurrent(context.handle), "cuCtxPushCurrent",
               context.at(stage));
    pushed_ = true;
  }
  // For destructors. False where the context can't be entered: the driver is gone, and everything
  // of it.
  DeviceScope(const CudaContext& context, std::nothrow_t) noexcept : context_(context) {
    CUcontext current = nullptr;
    entered_ = context.driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS;
    if (!entered_ || current == context.handle) return;
    entered_ = pushed_ = context.driver.cuCtxPushCurrent(context.handle) == CUDA_SUCCESS;
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() {
    CUcontext popped = nullptr;
    if (pushed_) cuda_ignore(context_.driver.cuCtxPopCurrent(&popped));
  }
  [[nodiscard]] explicit operator bool() const noexcept { return entered_; }

 private:
  const CudaContext& context_;
  bool pushed_ = false, entered_ = true;
};

// While it lives, this thread's calls do not break stream captures that the application has under
// way (allocating or asking for an event would, in CUDA's global capture mode).
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const CudaDriver& driver) noexcept : driver_(driver) {
    exchanged_ = driver.cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS;
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() {
    if (exchanged_) cuda_ignore(driver_.cuThreadExchangeStreamCaptureMode(&mode_));
  }

 private:
  const CudaDriver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool exchanged_ = false;
};

// Both, for everything but the launch path.
class SetupScope {
 public:
  SetupScope(const CudaContext& context, Stage stage)
      : device_(context, stage), capture_(context.driver) {}
  SetupScope(const CudaContext& context, std::nothrow_t tag) noexcept
      : device_(context, tag), capture_(context.driver) {}
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(device_); }

 private:
  DeviceScope device_;
  RelaxedCapture capture_;
};

}  // namespace reprise::detail
