// A private X display: Xvfb on an unused number. Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <string>

namespace reprise::test {

class DisplayServer {
 public:
  // Starts Xvfb and waits until it accepts connections. Throws std::runtime_error with the reason.
  DisplayServer();
  DisplayServer(const DisplayServer&) = delete;
  DisplayServer& operator=(const DisplayServer&) = delete;
  ~DisplayServer();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }  // ":7"

 private:
  pid_t pid_ = -1;
  std::string name_;
};

// The display of all tests of this process; sets $DISPLAY.
DisplayServer& display_server();

}  // namespace reprise::test
