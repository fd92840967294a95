// LiveViewer: waits for the first live session of what is started next and opens a window on it, a
// process of its own. Threads: the main one; it has one of its own while it waits.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace reprise::cli {

class LiveViewer {
 public:
  LiveViewer();
  LiveViewer(const LiveViewer&) = delete;
  LiveViewer& operator=(const LiveViewer&) = delete;
  ~LiveViewer();

  // No session comes any more. Waits until the window is closed. False: none was opened.
  bool finish();

 private:
  void wait_for_session();

  std::set<std::filesystem::path> before_;  // sessions of others
  std::mutex mutex_;                        // of over_
  std::condition_variable wake_;
  bool over_ = false;
  pid_t viewer_ = 0;  // of the thread, until that has ended
  std::thread thread_;
};

}  // namespace reprise::cli
