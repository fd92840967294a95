// Runs code that ends the process by a signal, in a forked child. Threads: none may hold a lock.
#pragma once

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace reprise::test {

// Runs `work` in a child process and returns the text that it writes to stderr before signal
// `expected` ends it. Fails the test if the child ends in another way.
[[nodiscard]] inline std::string message_before_signal(int expected,
                                                       const std::function<void()>& work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(expected, SIG_DFL);  // not the handler of the tests
    ::dup2(ends[1], STDERR_FILENO);
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == expected);
  return text;
}

}  // namespace reprise::test
