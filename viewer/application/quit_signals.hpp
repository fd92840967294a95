// QuitSignals: collects SIGINT, SIGTERM and SIGHUP, so that the viewer can exit between frames as
// if its window was closed. Construct before other threads, which inherit the blocked signals.
// Threads: main thread.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace reprise::viewer {

class QuitSignals {
 public:
  // `wake` is called on an internal thread when a signal arrives.
  explicit QuitSignals(std::function<void()> wake);
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;
  ~QuitSignals();

  [[nodiscard]] bool received() const noexcept { return received_.load(); }

 private:
  sigset_t previous_mask_{}, signals_{};
  std::atomic<bool> received_{false}, stop_{false};
  std::thread thread_;
};

}  // namespace reprise::viewer
