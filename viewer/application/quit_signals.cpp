#include "application/quit_signals.hpp"

#include <utility>

namespace reprise::viewer {

QuitSignals::QuitSignals(std::function<void()> wake) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &previous_mask_);
  thread_ = std::thread([this, wake = std::move(wake)] {
    for (int signal = 0; ::sigwait(&signals_, &signal) == 0 && !stop_.load();) {
      received_.store(true);
      wake();
    }
  });
}

QuitSignals::~QuitSignals() {
  stop_.store(true);
  ::pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

}  // namespace reprise::viewer
