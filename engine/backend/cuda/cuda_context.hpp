// CudaContext: the state that all objects of one GPU share: primary context, status and
// description. Also defines the scopes for calls on the GPU. Threads: immutable; a scope belongs to
// its thread and block.
#pragma once

#include <reprise/device_info.hpp>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/cuda_memory.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

namespace reprise::detail {

class CudaQueue;

// The last launch on one GPU of a graph with conditional nodes, by any Device of the process. CUDA
// 13.0 loses the device if two conditional nodes run at once, one of them a loop, in one graph or
// in two. Each such graph waits for the one before (CudaQueue::launch_conditional), and so does
// each such node of a graph.
struct ConditionalOrder {
  [[nodiscard]] static const std::shared_ptr<ConditionalOrder>& of(int ordinal);
  std::mutex mutex;
  CudaQueue* queue = nullptr;  // null: none, or its queue is gone and idle
  std::uint64_t serial = 0;
};

struct CudaContext {
  const CudaDriver& driver;
  int ordinal = 0;  // CUDA's device number
  // The primary context, retained until the process ends, as the runtime does.
  CUcontext handle = nullptr;
  std::shared_ptr<DeviceStatus> status;
  DeviceInfo info;
  std::shared_ptr<const CudaMemoryPools> pools = nullptr;
  std::shared_ptr<ConditionalOrder> conditionals = ConditionalOrder::of(ordinal);

  [[nodiscard]] CallContext at(Stage stage, std::string_view object = {}) const {
    return {stage, status.get(), object};
  }
};

// Makes the context current and restores the previous one. Cheap if the context is already current.
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
  // For destructors. Converts to false if the context cannot be entered: the driver has shut down
  // and has freed all its objects.
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

// During its lifetime, this thread's calls do not invalidate the application's stream captures. In
// CUDA's global capture mode, allocations and event queries would.
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

// Both scopes, for everything except the launch path.
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
