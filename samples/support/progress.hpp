// A progress line: rewritten in place on a terminal, about twenty plain lines elsewhere. Knows
// nothing of the engine. Threads: one at a time.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace samples {

class Progress {
 public:
  // mpirun makes stdout a terminal even when its own output is a file, but not stderr.
  explicit Progress(std::uint64_t total)
      : total_(total), terminal_(::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { finish(); }

  // `text` describes the state after `done` of `total`.
  void update(std::uint64_t done, const std::string& text) {
    if (terminal_) {
      std::printf("\r\x1b[K%s", text.c_str());
    } else if (done == 1 || done == total_ ||
               done * kLines / total_ != (done - 1) * kLines / total_) {
      std::printf("%s\n", text.c_str());
    }
    std::fflush(stdout);
    open_line_ = terminal_;
  }

  // Ends the progress line; later output starts on a new line.
  void finish() {
    if (open_line_) {
      std::fputc('\n', stdout);
      open_line_ = false;
    }
  }

 private:
  static constexpr std::uint64_t kLines = 20;
  std::uint64_t total_;
  bool terminal_;
  bool open_line_ = false;
};

}  // namespace samples
