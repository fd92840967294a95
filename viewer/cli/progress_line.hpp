// ProgressLine: shows the progress of a long operation on stderr if that is a terminal, and removes
// the line at the end. Knows no trace. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace reprise::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void update(std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace reprise::cli
