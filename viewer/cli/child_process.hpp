// Runs a program with additional environment variables and waits for it. The exit code follows
// shell conventions: 128 + signal number if a signal ended the program, 127 if it was not found.
// Threads: main thread. Keyboard signals go to the child only.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace reprise::cli {

inline constexpr int kNoSuchProgram = 127, kNotExecutable = 126, kKilled = 128;

struct ChildProcess {
  std::vector<std::string> command;  // the program, looked up in $PATH, and its arguments
  std::map<std::string, std::string> environment;  // added to this process's environment
};

struct ChildExit {
  int code = 0;
  std::string error;  // why the program did not start; empty if it ran
};

[[nodiscard]] ChildExit run_child(const ChildProcess& child);

}  // namespace reprise::cli
