// Runs a program and takes what it writes. Threads: any; the environment is not changed meanwhile.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprise::test {

using Environment = std::map<std::string, std::optional<std::string>>;  // nothing: not set

struct Finished {
  int code = 0;  // 128 and the signal's number for one that was ended by it
  std::string output, errors;
};

class Process {
 public:
  Process(const std::vector<std::string>& command, Environment environment);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // ended, if it was not waited for

  void signal(int number) const;
  [[nodiscard]] Finished wait();

 private:
  pid_t pid_ = -1;
  int output_ = -1, errors_ = -1;  // files
};

[[nodiscard]] Finished run_process(const std::vector<std::string>& command,
                                   const Environment& environment = {});

}  // namespace reprise::test
