// DeviceState: what handles of a device are checked against: which device, which generation, and
// whether it takes work. Stays valid, and current, for as long as it is held, whatever becomes of
// the device. Threads: any.
#pragma once

#include <cstdint>
#include <memory>

namespace reprise {

namespace detail {
struct DeviceStatus;
}

class DeviceState {
 public:
  enum class Phase : std::uint8_t { Working, Lost, ShutDown };

  explicit DeviceState(std::shared_ptr<const detail::DeviceStatus> status) noexcept
      : status_(std::move(status)) {}

  [[nodiscard]] std::uint32_t device_id() const noexcept;  // N of "cuda:N"; 0 for the host device
  [[nodiscard]] std::uint32_t generation()
      const noexcept;  // counts up when the device is lost; handles of earlier ones are stale
  [[nodiscard]] Phase phase() const noexcept;
  [[nodiscard]] bool accepts_work() const noexcept { return phase() == Phase::Working; }

 private:
  std::shared_ptr<const detail::DeviceStatus> status_;
};

}  // namespace reprise
