// What every layer may know of a loaded kernel. Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <reprise/kernel.hpp>
#include <reprise/types.hpp>

#include "record/buffer_core.hpp"

namespace reprise::detail {

// A backend's side of a kernel; each backend derives its own.
struct BackendKernel {
  virtual ~BackendKernel() = default;
};

struct KernelCore {
  std::string name;
  std::vector<KernelParameter> parameters;
  std::uint32_t parameter_bytes = 0;    // size of the parameter block
  std::uint32_t max_block_threads = 0;  // this kernel's own limit; 0: the device's
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t max_dynamic_shared_bytes =
      0;  // what is left of the opt-in maximum beside the static part
  std::shared_ptr<DeviceStatus> device;
  std::uint32_t generation = 1;
  std::shared_ptr<BackendKernel> backend;
};

}  // namespace reprise::detail
