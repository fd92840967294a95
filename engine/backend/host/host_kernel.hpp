// HostKernel: the host device's side of a loaded kernel; the limits of its launches. Threads: any.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <reprise/device_info.hpp>

#include "plan/dispatch_footprint.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

class HostKernel final : public BackendKernel {
 public:
  explicit HostKernel(const KernelDesc& desc)
      : function(desc.host), is_checked(desc.is_checked), name_(desc.name), ptx_(desc.ptx) {}

  // From the PTX that a build with CUDA has, although the host device runs other code: both are
  // made from one source.
  [[nodiscard]] std::shared_ptr<const Footprint> footprint(
      const DispatchPayload& dispatch) const override;

  const HostKernelFunction function;
  const bool is_checked;  // reports its accesses

 private:
  const std::string name_;
  std::span<const KernelPtx> (*const ptx_)();
  mutable std::once_flag is_parsed_;
  mutable std::shared_ptr<const PtxModule> module_;
  mutable std::unique_ptr<KernelFootprints> footprints_;  // null: without PTX
};

[[nodiscard]] const DeviceLimits& host_limits() noexcept;

}  // namespace reprise::detail
