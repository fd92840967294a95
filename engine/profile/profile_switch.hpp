// ProfileSwitch: how closely an instance wants its graphs' replays to be looked at; hands a change
// to the graphs that there are. Knows no viewer: what one asks for goes before this. Threads: any.
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

  // From now on the log follows set(); `desc.mode` is what it is now.
  [[nodiscard]] std::shared_ptr<ReplayLog> make_log(ReplayLogDesc desc);
  void set(ProfileMode mode);

 private:
  std::mutex mutex_;
  ProfileMode mode_;
  std::vector<std::weak_ptr<ReplayLog>> logs_;
};

}  // namespace reprise::detail
