// SampleRun: the digits sample as a child process that can be looked at live. It ends with its
// owner, and with the viewer's process however that ends; its files go with it. Knows no window.
// Threads: the drawing thread's.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace reprise::viewer {

// The sample beside the running program, in a build or an installation; empty: it is not there.
[[nodiscard]] std::filesystem::path find_sample(const std::filesystem::path& program);

class SampleRun {
 public:
  // Starts it. Throws std::runtime_error with the reason.
  explicit SampleRun(const std::filesystem::path& sample);
  SampleRun(const SampleRun&) = delete;
  SampleRun& operator=(const SampleRun&) = delete;
  ~SampleRun();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // True while it runs. Never waits.
  [[nodiscard]] bool is_running();
  // Why it ended, once it has: its last words, or how it was ended.
  [[nodiscard]] std::string reason() const;
  // The socket that it listens at, once it is known: removed when the process is ended, which does
  // not do it.
  void note_session(std::filesystem::path socket) { socket_ = std::move(socket); }

 private:
  void stop() noexcept;

  std::filesystem::path folder_, socket_;
  pid_t pid_ = -1;
  bool running_ = false;
  int status_ = 0;  // as waitpid gives it
};

}  // namespace reprise::viewer
