#include <reprise/kernel.hpp>

#include "record/kernel_core.hpp"

namespace reprise::inline REPRISE_ABI {

std::string_view Kernel::name() const noexcept {
  return core_ ? std::string_view(core_->name) : std::string_view();
}

std::span<const KernelParameter> Kernel::parameters() const noexcept {
  return core_ ? std::span<const KernelParameter>(core_->parameters)
               : std::span<const KernelParameter>();
}

}  // namespace reprise::inline REPRISE_ABI
