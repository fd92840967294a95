// DeviceState: the status of a device, which handles are checked against. Remains valid and
// current after the device is lost, shut down or destroyed. Threads: all calls are safe from any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/abi.hpp>

namespace reprise::detail {
struct DeviceStatus;
struct HandleAccess;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

class REPRISE_API DeviceState {
 public:
  enum class Phase : std::uint8_t { Working, Lost, ShutDown };

  [[nodiscard]] std::uint32_t device_id() const noexcept;  // N of "cuda:N"; 0 for the host device
  // Increases when the device is lost. Handles of earlier generations are stale.
  [[nodiscard]] std::uint32_t generation() const noexcept;
  [[nodiscard]] Phase phase() const noexcept;
  [[nodiscard]] bool accepts_work() const noexcept { return phase() == Phase::Working; }

 private:
  friend struct detail::HandleAccess;
  explicit DeviceState(std::shared_ptr<const detail::DeviceStatus> status) noexcept
      : status_(std::move(status)) {}

  std::shared_ptr<const detail::DeviceStatus> status_;  // never null
};
[[nodiscard]] REPRISE_API std::string_view to_string(DeviceState::Phase phase) noexcept;

}  // namespace reprise::inline REPRISE_ABI
