// The environment for a child process: this process's own with some variables set and some removed.
// Threads: any, while no thread modifies this process's environment.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace reprise::model {

struct EnvironmentChange {
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;
};

// "NAME=value" entries, as exec and posix_spawn expect them.
[[nodiscard]] std::vector<std::string> program_environment(const EnvironmentChange& change);
// Pointers to each entry, followed by null; valid while `texts` is unmodified.
[[nodiscard]] std::vector<char*> exec_pointers(std::vector<std::string>& texts);

}  // namespace reprise::model
