// Runs a program with more in its environment, waits for it, and gives its exit code as a shell
// would: 128 and the signal's number for one that was killed, 127 for one that is not there.
// Threads: the main thread's; signals of the keyboard are the child's alone meanwhile.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace reprise::cli {

inline constexpr int kNoSuchProgram = 127, kNotExecutable = 126, kKilled = 128;

struct ChildProcess {
  std::vector<std::string> command;  // the program, looked up in $PATH, and its arguments
  std::map<std::string, std::string> environment;  // added to this process's own
};

struct ChildExit {
  int code = 0;
  std::string error;  // why it did not start; empty: it ran
};

[[nodiscard]] ChildExit run_child(const ChildProcess& child);

}  // namespace reprise::cli
