// Runs a program with additional environment variables and waits for it. SIGTERM, SIGHUP, SIGINT
// and SIGQUIT that this process receives meanwhile are passed to the program. Threads: the main
// thread; the others block these signals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reprise::cli {

inline constexpr int kNoSuchProgram = 127, kNotExecutable = 126, kKilled = 128;

struct ChildProcess {
  std::vector<std::string> command;  // the program, looked up in $PATH, and its arguments
  std::map<std::string, std::string> environment;  // added to this process's environment
  std::vector<std::string> unset = {};             // removed from it
  std::string output = {};  // file that receives its stdout; empty: that of this process
  // Called about once a second while the program runs; may be empty.
  std::function<void()> on_second = {};
};

struct ChildExit {
  int code = 0;            // as in a shell: 128 + signal number if a signal ended the program
  int signal = 0;          // that ended the program; 0: none
  std::string error = {};  // why the program did not start; empty if it ran
};

[[nodiscard]] ChildExit run_child(const ChildProcess& child);
// Ends this process by the signal that ended the program. Returns the exit code if there was none.
[[nodiscard]] int end_like(const ChildExit& exit);

}  // namespace reprise::cli
