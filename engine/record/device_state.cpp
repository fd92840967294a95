#include <reprise/device_state.hpp>

#include "record/buffer_core.hpp"

namespace reprise::inline REPRISE_ABI {

std::uint32_t DeviceState::device_id() const noexcept { return detail::ordinal_of(*status_); }

std::uint32_t DeviceState::generation() const noexcept {
  return status_->generation.load(std::memory_order_acquire);
}

DeviceState::Phase DeviceState::phase() const noexcept {
  if (status_->shut_down.load(std::memory_order_acquire)) return Phase::ShutDown;
  return status_->lost.load(std::memory_order_acquire) ? Phase::Lost : Phase::Working;
}

}  // namespace reprise::inline REPRISE_ABI
