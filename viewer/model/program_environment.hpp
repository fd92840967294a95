// The environment of a program that is started from here: this process's own, with some variables
// set and some taken out. Threads: any, as long as nobody changes the environment meanwhile.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace reprise::model {

struct EnvironmentChange {
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;
};

// Each "NAME=value", as exec and posix_spawn take them.
[[nodiscard]] std::vector<std::string> program_environment(const EnvironmentChange& change);
// Where each text begins, and a null behind the last; good as long as `texts` is not changed.
[[nodiscard]] std::vector<char*> exec_pointers(std::vector<std::string>& texts);

}  // namespace reprise::model
