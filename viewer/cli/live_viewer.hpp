// LiveViewer: waits for the first live session that starts after its construction and opens a
// viewer on it in a separate process: a window, or a server for browsers, which prints its link.
// Threads: main thread; a background thread waits for the session.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace reprise::cli {

class LiveViewer {
 public:
  enum class Kind : std::uint8_t { Window, Server };
  explicit LiveViewer(Kind kind);
  // Of this session, at once.
  LiveViewer(Kind kind, const std::filesystem::path& session);
  LiveViewer(const LiveViewer&) = delete;
  LiveViewer& operator=(const LiveViewer&) = delete;
  ~LiveViewer();

  // Stops waiting for a session, and blocks until the window is closed or ends the server. Returns
  // false if neither was opened.
  bool finish();

 private:
  void wait_for_session();

  const Kind kind_;
  std::set<std::filesystem::path> before_;  // sessions that existed before
  std::mutex mutex_;                        // guards is_finished_
  std::condition_variable wake_;
  bool is_finished_ = false;
  pid_t viewer_ = 0;  // owned by the thread until it ends
  std::thread thread_;
};

}  // namespace reprise::cli
