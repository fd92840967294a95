// LiveViewer: waits for the first live session that starts after its construction and opens a
// viewer window on it in a separate process. Threads: main thread; a background thread waits for
// the session.
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

  // Stops waiting for a session and blocks until the window is closed. Returns false if no window
  // was opened.
  bool finish();

 private:
  void wait_for_session();

  std::set<std::filesystem::path> before_;  // sessions that existed before
  std::mutex mutex_;                        // guards is_finished_
  std::condition_variable wake_;
  bool is_finished_ = false;
  pid_t viewer_ = 0;  // owned by the thread until it ends
  std::thread thread_;
};

}  // namespace reprise::cli
