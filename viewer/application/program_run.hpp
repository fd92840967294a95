// ProgramRun: a program as a child process with a live session, observed as by `reprise run`: the
// user's command, or the digits sample. It ends with its owner, with the processes that it started,
// and with the viewer's process however that ends. Its files are removed, after a kill by the next
// run. Knows no window. Threads: UI thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <ios>
#include <string>
#include <vector>

#include "model/observed_run.hpp"

namespace reprise::viewer {

// The sample's executable, relative to `program` in a build or an installation; empty if absent.
[[nodiscard]] std::filesystem::path find_sample(const std::filesystem::path& program);
// The words of a command line, with the quotes, variables and wildcards of a shell. Throws
// std::runtime_error for pipes, redirections, command substitutions and unbalanced quotes.
[[nodiscard]] std::vector<std::string> words_of(const std::string& command_line);

struct ProgramRunDesc {
  std::string name;                  // in messages: "the sample"
  std::vector<std::string> command;  // the program, looked up in $PATH, and its arguments
  // Private: an empty directory that is removed afterwards.
  enum class Directory : std::uint8_t { Current, Private } directory = Directory::Current;
  std::filesystem::path library = {};  // model::injection_library(); empty: not injected
};

class ProgramRun {
 public:
  // Starts the program. Throws std::runtime_error with the reason.
  explicit ProgramRun(ProgramRunDesc desc);
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;
  ~ProgramRun();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // True while the process runs. Never blocks.
  [[nodiscard]] bool is_running();
  // True for the process, and for those that it started.
  [[nodiscard]] bool has_process(pid_t pid) const;
  // How the process ended, and its last output line.
  [[nodiscard]] std::string reason();
  // The last lines of its output, and the errors of the injected library.
  [[nodiscard]] std::vector<std::string> output(std::size_t lines);
  // The session's socket. A killed process does not remove it, so stop() does.
  void set_session(std::filesystem::path socket) { socket_ = std::move(socket); }
  [[nodiscard]] const std::filesystem::path& session() const noexcept { return socket_; }

 private:
  void stop() noexcept;

  std::string name_;
  std::filesystem::path folder_, socket_;
  model::RunErrors errors_;
  std::vector<std::string> reported_;  // by errors_
  std::vector<std::string> lines_;     // of the log when it had read_size_ bytes
  std::streamoff read_size_ = 0;
  pid_t pid_ = -1;
  int lock_ = -1;  // a file that marks the folder as in use
  bool running_ = false, was_killed_ = false;
  int status_ = 0;  // exit code or signal
};

}  // namespace reprise::viewer
