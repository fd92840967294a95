#include "model/program_environment.hpp"

#include <unistd.h>

#include <algorithm>

namespace reprise::model {

std::vector<std::string> program_environment(const EnvironmentChange& change) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry, name = text.substr(0, text.find('='));
    const bool is_unset =
        std::find(change.unset.begin(), change.unset.end(), name) != change.unset.end();
    if (!is_unset && change.set.count(name) == 0) all.push_back(text);
  }
  for (const auto& [name, value] : change.set) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> exec_pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace reprise::model
