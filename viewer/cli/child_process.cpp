#include "cli/child_process.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "model/program_environment.hpp"

namespace reprise::cli {

namespace {

// For its lifetime, this process ignores Ctrl+C and Ctrl+\; the child does not.
class KeyboardSignalsIgnored {
 public:
  KeyboardSignalsIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  KeyboardSignalsIgnored(const KeyboardSignalsIgnored&) = delete;
  KeyboardSignalsIgnored& operator=(const KeyboardSignalsIgnored&) = delete;
  ~KeyboardSignalsIgnored() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_ {
  }, quit_{};
};

}  // namespace

ChildExit run_child(const ChildProcess& child) {
  std::vector<std::string> arguments = child.command,
                           environment =
                               model::program_environment({.set = child.environment, .unset = {}});
  const KeyboardSignalsIgnored ignored;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments.front().c_str(), nullptr, &attributes,
                                 model::exec_pointers(arguments).data(),
                                 model::exec_pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return {error == ENOENT ? kNoSuchProgram : kNotExecutable, std::strerror(error)};
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR)
      throw std::runtime_error("cannot wait for " + arguments.front() + ": " +
                               std::strerror(errno));
  }
  return {WIFSIGNALED(status) ? kKilled + WTERMSIG(status) : WEXITSTATUS(status), {}};
}

}  // namespace reprise::cli
