// StartPageMonitor: once a second, a background thread queries the live sessions and recent files
// that the start page shows. Knows no window. Threads: constructed and used by the UI thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "application/settings.hpp"
#include "panels/workspace/start_page.hpp"

namespace reprise::viewer {

struct StartPageContent {
  std::vector<trace::LiveSession> sessions;
  std::vector<RecentFile> recent;
};

class StartPageMonitor {
 public:
  // `on_change` is called on the monitor's thread after the result changed.
  explicit StartPageMonitor(std::function<void()> on_change);
  StartPageMonitor(const StartPageMonitor&) = delete;
  StartPageMonitor& operator=(const StartPageMonitor&) = delete;
  ~StartPageMonitor();

  // The files to check. found() lists them immediately, at first without details.
  void set_recent(const std::vector<RecentEntry>& recent);
  [[nodiscard]] StartPageContent found() const;

 private:
  void run();
  // Looks once. Unlocks while it reads folders; an exception may leave `lock` unlocked.
  void look(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;  // guards every member below
  std::condition_variable wake_;
  std::function<void()> on_change_;
  std::vector<RecentEntry> recent_;
  StartPageContent found_;
  bool stop_ = false, recent_changed_ = false;
  std::thread thread_;  // declared last
};

}  // namespace reprise::viewer
