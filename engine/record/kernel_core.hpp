// KernelCore: the backend-independent state of a loaded kernel. Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/kernel.hpp>
#include <reprise/types.hpp>

#include "record/buffer_core.hpp"

namespace reprise::detail {

struct DispatchPayload;
struct Footprint;

// Base of the backend-specific state of a kernel.
struct BackendKernel {
  virtual ~BackendKernel() = default;
  // Why no segment can contain this dispatch of the kernel; empty: one can. Valid while the kernel
  // exists.
  [[nodiscard]] virtual std::string_view segment_exclusion(const DispatchPayload&) const {
    return {};
  }
  // The bytes that each block of this dispatch of the kernel can access. Null: not derived.
  [[nodiscard]] virtual std::shared_ptr<const Footprint> footprint(const DispatchPayload&) const {
    return nullptr;
  }
};

struct KernelCore {
  std::string name;
  std::vector<KernelParameter> parameters;
  std::uint32_t parameter_bytes = 0;    // size of the parameter block
  std::uint32_t max_block_threads = 0;  // 0: the device's limit
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t registers = 0;  // of a thread; 0: not known
  std::uint32_t max_dynamic_shared_bytes = 0;  // opt-in maximum less the static part
  std::shared_ptr<DeviceStatus> device;
  std::uint32_t generation = 1;
  std::shared_ptr<BackendKernel> backend;

  // True after its device was lost or shut down.
  [[nodiscard]] bool is_stale() const noexcept {
    return device != nullptr && (generation != device->generation.load(std::memory_order_acquire) ||
                                 device->shut_down.load(std::memory_order_acquire));
  }
};

}  // namespace reprise::detail
