#include <reprise/device_state.hpp>

#include <charconv>

#include "record/buffer_core.hpp"

namespace reprise {

std::uint32_t DeviceState::device_id() const noexcept { return detail::number_of(*status_); }

std::uint32_t DeviceState::generation() const noexcept { return status_->generation.load(std::memory_order_acquire); }

DeviceState::Phase DeviceState::phase() const noexcept {
  if (status_->shut_down.load(std::memory_order_acquire)) return Phase::ShutDown;
  return status_->lost.load(std::memory_order_acquire) ? Phase::Lost : Phase::Working;
}

namespace detail {

std::uint32_t number_of(const DeviceStatus& device) noexcept {
  const std::size_t colon = device.selector.find(':');
  std::uint32_t number = 0;
  if (colon != std::string::npos) std::from_chars(device.selector.data() + colon + 1, device.selector.data() + device.selector.size(), number);
  return number;
}

}  // namespace detail
}  // namespace reprise
