// Runs one of this program's skipped test cases in a process of its own. Threads: one.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "support/environment_variable.hpp"

extern char** environ;

namespace reprise::test {

[[nodiscard]] inline pid_t start_child(const std::string& test_case) {
  std::string arguments[] = {"reprise_cuda_tests", "--test-case=" + test_case, "--no-skip"};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
  // The child would wait for a tool that is attached only to this process.
  const EnvironmentVariable no_tool("NVTX_INJECTION64_PATH", std::nullopt);
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv, environ) == 0);
  return child;
}

// The exit code; -1 if the process did not exit normally. Kills it after `limit`.
[[nodiscard]] inline int exit_code_of(pid_t child, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
    if (std::chrono::steady_clock::now() > end) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(ended == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace reprise::test
