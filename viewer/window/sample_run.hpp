// SampleRun: the digits sample as a child process with a live session. It ends with its owner, and
// with the viewer's process however that ends; its files are removed. Knows no window. Threads: UI
// thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace reprise::viewer {

// The sample's executable, relative to `program` in a build or an installation; empty if absent.
[[nodiscard]] std::filesystem::path find_sample(const std::filesystem::path& program);

class SampleRun {
 public:
  // Starts the sample. Throws std::runtime_error with the reason.
  explicit SampleRun(const std::filesystem::path& sample);
  SampleRun(const SampleRun&) = delete;
  SampleRun& operator=(const SampleRun&) = delete;
  ~SampleRun();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // True while the process runs. Never blocks.
  [[nodiscard]] bool is_running();
  // Why the process ended: its last output line, or its exit status.
  [[nodiscard]] std::string reason() const;
  // The session's socket. A killed process does not remove it, so stop() does.
  void set_session(std::filesystem::path socket) { socket_ = std::move(socket); }

 private:
  void stop() noexcept;

  std::filesystem::path folder_, socket_;
  pid_t pid_ = -1;
  bool running_ = false;
  int status_ = 0;  // as returned by waitpid
};

}  // namespace reprise::viewer
