// A child process with a pipe in each direction. It ends only by kill -9, at the latest in the
// destructor. Must be created before the test starts threads.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

namespace reprise::test {

class Child {
 public:
  // `body` receives the descriptors for reading and writing.
  explicit Child(const std::function<void(int, int)>& body) {
    REQUIRE(::pipe(down_) == 0);
    REQUIRE(::pipe(up_) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      body(down_[0], up_[1]);
      for (;;) ::pause();
    }
    ::close(
        std::exchange(up_[1], -1));  // so the reader sees the end of the pipe when the child ends
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    for (const int end : {down_[0], down_[1], up_[0]}) ::close(end);
  }
  void say(const std::string& text) const {
    REQUIRE(::write(down_[1], text.c_str(), text.size() + 1) > 0);
  }
  [[nodiscard]] std::string receive() const { return read_text(up_[0]); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] static std::string read_text(int from) {
    std::string text;
    for (char c = 1; ::read(from, &c, 1) == 1 && c != 0;) text += c;
    return text;
  }
  // Called in the child.
  static void send(int to, const std::string& text) {
    if (::write(to, text.c_str(), text.size() + 1) < 0) ::_exit(1);
  }

 private:
  int down_[2]{}, up_[2]{};
  pid_t pid_ = -1;
};

}  // namespace reprise::test
