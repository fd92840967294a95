// ProfileSwitch: the profile mode of an instance; forwards changes to the logs of its graphs. A
// viewer's request, which takes precedence, is handled by the logs. Threads: any.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <reprise/trace.hpp>

#include "profile/replay_log.hpp"

namespace reprise::detail {

class ProfileSwitch {
 public:
  explicit ProfileSwitch(ProfileMode mode) : mode_(mode) {}

  // Creates a log that follows set(). `desc.mode` is ignored.
  [[nodiscard]] std::shared_ptr<ReplayLog> make_log(ReplayLogDesc desc);
  void set(ProfileMode mode);

 private:
  std::mutex mutex_;
  ProfileMode mode_;
  std::vector<std::weak_ptr<ReplayLog>> logs_;
};

}  // namespace reprise::detail
