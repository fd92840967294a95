// What a run of somebody's program left: its traces, and what is in them, in plain words. Threads:
// one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/file_state.hpp"

namespace reprise::cli {

// The traces of the processes of one run: FILE of the program itself, FILE.PID of each that it
// started.
class RunFiles {
 public:
  // Before it starts: what stands there already is of another run.
  explicit RunFiles(std::filesystem::path file);

  // Those that were written since, FILE first. One that is alone becomes FILE: then it is clear
  // whose it is.
  [[nodiscard]] std::vector<std::filesystem::path> written() const;

 private:
  [[nodiscard]] std::map<std::filesystem::path, FileState> look() const;

  std::filesystem::path file_;
  std::map<std::filesystem::path, FileState> before_;
};

struct RunSummary {
  std::string application;
  std::uint32_t pid = 0;
  std::uint64_t graphs = 0, replays = 0, bytes = 0;
  std::vector<std::string> warnings;  // that the trace itself holds
};

// Reads it through. Throws std::exception where it is no trace.
[[nodiscard]] RunSummary summarise(const std::filesystem::path& file);
// "run.reprise: python3 (process 7): 2 graphs, 1,050 replays, 12 kB".
[[nodiscard]] std::string line_of(const std::filesystem::path& file, const RunSummary& summary);

}  // namespace reprise::cli
