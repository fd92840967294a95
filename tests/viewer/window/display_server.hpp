// An X display of a test's own: Xvfb on a number that is free. Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <string>

namespace reprise::test {

class DisplayServer {
 public:
  // Starts it and waits until it answers. Throws std::runtime_error with the reason.
  DisplayServer();
  DisplayServer(const DisplayServer&) = delete;
  DisplayServer& operator=(const DisplayServer&) = delete;
  ~DisplayServer();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }  // ":7"

 private:
  pid_t pid_ = -1;
  std::string name_;
};

// One for all tests of this process; $DISPLAY names it.
DisplayServer& display_server();

}  // namespace reprise::test
