// Runs a program and captures its output. Threads: any, while no thread modifies the environment.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprise::test {

using Environment = std::map<std::string, std::optional<std::string>>;  // empty: unset

struct Finished {
  int code = 0;  // 128 + signal number if a signal ended the program
  std::string output, errors;
};

class Process {
 public:
  Process(const std::vector<std::string>& command, Environment environment);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // kills the program if wait() was not called

  void signal(int number) const;
  [[nodiscard]] Finished wait();

 private:
  pid_t pid_ = -1;
  int output_ = -1, errors_ = -1;  // files
};

[[nodiscard]] Finished run_process(const std::vector<std::string>& command,
                                   const Environment& environment = {});

}  // namespace reprise::test
