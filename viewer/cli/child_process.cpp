#include "cli/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "model/program_environment.hpp"

namespace reprise::cli {

namespace {

// While it exists, the signals that end or interrupt programs do not act on this process, but wait
// for receive(). This works for process 1 of a container as well, which the kernel protects from
// signals without a handler.
class HeldSignals {
 public:
  HeldSignals() {
    ::signal(SIGCHLD, SIG_DFL);  // if it is inherited as ignored, the child's status is lost
    sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD})
      sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    // The remaining signals were meant for the program, which has ended.
    const timespec now{};
    while (::sigtimedwait(&signals_, nullptr, &now) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] siginfo_t receive() const {
    siginfo_t info{};
    while (::sigwaitinfo(&signals_, &info) < 0) {
    }
    return info;
  }
  // As receive(), but calls `on_second` while it waits.
  [[nodiscard]] siginfo_t receive(const std::function<void()>& on_second) const {
    if (!on_second) return receive();
    constexpr timespec kSecond{1, 0};
    siginfo_t info{};
    while (::sigtimedwait(&signals_, &info, &kSecond) < 0) {
      if (errno == EAGAIN) on_second();
    }
    return info;
  }
  [[nodiscard]] const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t signals_{}, before_{};
};

// The terminal sends Ctrl+C and Ctrl+\ to the program as well.
bool is_for_both(const siginfo_t& info) {
  return (info.si_signo == SIGINT || info.si_signo == SIGQUIT) && info.si_code == SI_KERNEL;
}

// The status of `child` if it has ended. Reaps every process that has ended: process 1 of a
// container inherits orphans.
std::optional<int> reap(pid_t child) {
  std::optional<int> ended;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == child) ended = status;
  }
  return ended;
}

}  // namespace

ChildExit run_child(const ChildProcess& child) {
  std::vector<std::string> arguments = child.command,
                           environment = model::program_environment(
                               {.set = child.environment, .unset = child.unset});
  const HeldSignals signals;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!child.output.empty())
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, child.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments.front().c_str(), &files, &attributes,
                                 model::exec_pointers(arguments).data(),
                                 model::exec_pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return {.code = error == ENOENT ? kNoSuchProgram : kNotExecutable,
            .error = std::strerror(error)};
  for (;;) {
    const siginfo_t info = signals.receive(child.on_second);
    if (info.si_signo != SIGCHLD) {
      if (!is_for_both(info)) ::kill(pid, info.si_signo);
      continue;
    }
    const std::optional<int> status = reap(pid);
    if (!status) continue;
    if (!WIFSIGNALED(*status)) return {.code = WEXITSTATUS(*status)};
    return {.code = kKilled + WTERMSIG(*status), .signal = WTERMSIG(*status)};
  }
}

int end_like(const ChildExit& exit) {
  if (exit.signal == 0) return exit.code;
  std::fflush(nullptr);
  ::prctl(PR_SET_DUMPABLE, 0);  // no second core dump
  ::signal(exit.signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, exit.signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(exit.signal);
  return exit.code;  // process 1 of a container survives
}

}  // namespace reprise::cli
