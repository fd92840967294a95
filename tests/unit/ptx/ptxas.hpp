// Ptxas: the assembler of the CUDA toolkit, where there is one. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "support/paths.hpp"

namespace reprise::test {

class Ptxas {
 public:
  // The first one in $PATH.
  Ptxas() {
    const char* path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "" : path;
    while (!folders.empty() && program_.empty()) {
      const std::size_t end = std::min(folders.find(':'), folders.size());
      const std::filesystem::path file = std::filesystem::path(folders.substr(0, end)) / "ptxas";
      std::error_code error;
      if (std::filesystem::is_regular_file(file, error)) program_ = file;
      folders.remove_prefix(std::min(end + 1, folders.size()));
    }
  }

  [[nodiscard]] bool exists() const { return !program_.empty(); }
  // Whether it accepts a module for sm_90. Its messages are in messages() until the next call.
  [[nodiscard]] bool accepts(std::string_view text) const {
    std::ofstream(file("ptx"), std::ios::binary) << text;
    const std::string command = program_.string() + " -arch=sm_90 -o " + file("cubin").string() +
                                " " + file("ptx").string() + " > " + file("txt").string() + " 2>&1";
    return std::system(command.c_str()) == 0;
  }
  [[nodiscard]] std::string messages() const {
    std::ifstream in(file("txt"));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  [[nodiscard]] static std::filesystem::path file(const std::string& extension) {
    return scratch_folder() / ("kernel." + extension);
  }

  std::filesystem::path program_;
};

}  // namespace reprise::test
