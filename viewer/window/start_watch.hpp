// StartPageMonitor: what the start page shows and a disk or a socket knows, looked for once a
// second on a thread of its own while the object lives. Knows no window. Threads: made and asked by
// the drawing thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "panels/workspace/start_page.hpp"
#include "window/settings.hpp"

namespace reprise::viewer {

struct FoundAtStart {
  std::vector<trace::LiveSession> sessions;
  std::vector<RecentFile> recent;
};

class StartPageMonitor {
 public:
  // `on_change` is called on the watch's thread whenever there is something new.
  explicit StartPageMonitor(std::function<void()> on_change);
  StartPageMonitor(const StartPageMonitor&) = delete;
  StartPageMonitor& operator=(const StartPageMonitor&) = delete;
  ~StartPageMonitor();

  // Which files to look for; they are at once in found(), without saying more about them.
  void set_recent(const std::vector<RecentEntry>& recent);
  [[nodiscard]] FoundAtStart found() const;

 private:
  void watch();

  mutable std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  std::function<void()> on_change_;
  std::vector<RecentEntry> recent_;
  FoundAtStart found_;
  bool stop_ = false, asked_ = false;
  std::thread thread_;  // last
};

}  // namespace reprise::viewer
