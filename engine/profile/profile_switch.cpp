#include "profile/profile_switch.hpp"

#include <utility>

namespace reprise::detail {

std::shared_ptr<ReplayLog> ProfileSwitch::make_log(ReplayLogDesc desc) {
  const std::lock_guard lock(mutex_);
  desc.mode = mode_;
  auto log = std::make_shared<ReplayLog>(std::move(desc));
  if (logs_.size() == logs_.capacity()) {
    std::erase_if(logs_, [](const auto& weak) { return weak.expired(); });
    logs_.reserve(2 * logs_.size() + 8);
  }
  logs_.push_back(log);
  return log;
}

void ProfileSwitch::set(ProfileMode mode) {
  const std::lock_guard lock(mutex_);
  mode_ = mode;
  for (const auto& weak : logs_) {
    if (const auto log = weak.lock()) log->set_mode(mode);
  }
}

}  // namespace reprise::detail
