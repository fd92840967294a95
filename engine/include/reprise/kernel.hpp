// Kernel: a KernelDesc that is loaded on a device. Threads: a Kernel is immutable; many recorders
// may use it at once.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <reprise/kernel_desc.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {
struct KernelCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A reference-counted handle. The kernel stays loaded until the last handle, recording and graph
// that uses it is destroyed.
class REPRISE_API Kernel {
 public:
  Kernel() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::string_view name() const noexcept;  // empty for an empty handle
  [[nodiscard]] std::span<const KernelParameter> parameters() const noexcept;

 private:
  friend struct detail::HandleAccess;
  explicit Kernel(std::shared_ptr<const detail::KernelCore> core) noexcept
      : core_(std::move(core)) {}

  std::shared_ptr<const detail::KernelCore> core_;
};

// The kernel of a call, to which a Kernel converts, and the location of the call. A function with a
// pack of arguments cannot take the location as its last parameter.
struct CalledKernel {
  CalledKernel(const Kernel& called, SourceLocation call = SourceLocation::current()) noexcept
      : kernel(called), where(call) {}
  const Kernel& kernel;
  SourceLocation where;
};

}  // namespace reprise::inline REPRISE_ABI
