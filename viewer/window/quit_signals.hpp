// QuitSignals: Ctrl+C, a SIGTERM or a lost terminal as a wish that the viewer takes up between two
// frames, so that it ends as if its window had been closed. Made before other threads, which
// inherit that these signals are blocked. Threads: the main thread's.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace reprise::viewer {

class QuitSignals {
 public:
  // `wake` is called on a thread of its own when a signal has come.
  explicit QuitSignals(std::function<void()> wake);
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;
  ~QuitSignals();

  [[nodiscard]] bool has_come() const noexcept { return come_.load(); }

 private:
  sigset_t before_{}, signals_{};
  std::atomic<bool> come_{false}, stop_{false};
  std::thread thread_;
};

}  // namespace reprise::viewer
