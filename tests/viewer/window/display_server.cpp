#include "viewer/window/display_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace reprise::test {

namespace {

// 1920 x 1080, without a screen saver or TCP.
[[noreturn]] void become_server(int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::dup2(answer, 3);
  ::execlp("Xvfb", "Xvfb", "-displayfd", "3", "-screen", "0", "1920x1080x24", "-nolisten", "tcp",
           "-s", "0", "-noreset", static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

DisplayServer::DisplayServer() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ == 0) become_server(ends[1]);
  ::close(ends[1]);
  // Xvfb writes its number and a newline when it accepts connections.
  std::string number;
  char c = 0;
  for (;;) {
    const ssize_t got = ::read(ends[0], &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') break;
    number += c;
  }
  ::close(ends[0]);
  if (number.empty()) throw std::runtime_error("Xvfb did not start; apt-get install xvfb");
  name_ = ":" + number;
}

DisplayServer::~DisplayServer() {
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

DisplayServer& display_server() {
  static DisplayServer server;
  ::setenv("DISPLAY", server.name().c_str(), 1);
  return server;
}

}  // namespace reprise::test
