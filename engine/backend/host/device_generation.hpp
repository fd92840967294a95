// DeviceGeneration: detects whether the device was lost since the creation of a queue or
// executable. Threads: any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "record/buffer_core.hpp"

namespace reprise::detail {

class DeviceGeneration {
 public:
  explicit DeviceGeneration(std::shared_ptr<DeviceStatus> status)
      : status_(std::move(status)),
        generation_(status_->generation.load(std::memory_order_acquire)) {}

  [[nodiscard]] bool is_lost() const noexcept {
    return status_->generation.load(std::memory_order_relaxed) != generation_;
  }
  // Throws DeviceLost, naming the queue or graph, if the device was lost.
  void require(Stage stage, std::string_view subject, std::string_view label) const {
    if (!is_lost()) return;
    ErrorDetails details;
    details.code = ErrorCode::DeviceLost;
    details.stage = stage;
    details.label = label;
    throw Error(std::move(details),
                concat("device ", status_->selector, " was lost: ", subject, " ", label,
                       " cannot be used; make it again after Device::rebuild"));
  }

 private:
  std::shared_ptr<DeviceStatus> status_;
  std::uint32_t generation_;
};

}  // namespace reprise::detail
