#include "window/sample_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "model/program_environment.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;

constexpr int kPatience = 100;        // in units of kStep, for a process that was asked to exit
constexpr useconds_t kStep = 10'000;  // us
constexpr char kName[] = "digits";
constexpr int kNoStart = 127;

fs::path make_folder() {
  std::string pattern = (fs::temp_directory_path() / "reprise-digits-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::runtime_error("cannot create a directory for the sample in " +
                             fs::temp_directory_path().string() + ": " + std::strerror(errno));
  return pattern;
}

// The environment of this process, with a live session whose profiling mode a viewer may choose.
std::vector<std::string> environment() {
  return model::program_environment({.set = {{"REPRISE_TRACE", "live"},
                                             {"REPRISE_PROFILE", "sampled"},
                                             {"REPRISE_REMOTE_PROFILE", "every"}},
                                     .unset = {"REPRISE_LISTEN"}});
}

// Runs in the child; only async-signal-safe calls are allowed.
[[noreturn]] void exec_sample(const char* program, char* const* arguments, char* const* variables,
                              int log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNoStart);  // the parent ended before prctl() took effect
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execve(program, arguments, variables);
  const char* why = std::strerror(errno);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, why, std::strlen(why));
  ::_exit(kNoStart);
}

}  // namespace

fs::path find_sample(const fs::path& program) {
  const fs::path folder = program.parent_path(), root = folder.parent_path();
  for (const fs::path& place :
       {folder / kName, root / "bin" / kName, root / "libexec" / "reprise" / kName}) {
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

SampleRun::SampleRun(const fs::path& sample) : folder_(make_folder()) {
  const fs::path log_path = folder_ / "log.txt";
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::vector<std::string> arguments = {sample.string(), "--out", (folder_ / "out").string(),
                                        "--epochs", "1000000"};
  std::vector<std::string> variables = environment();
  const std::vector<char*> argument_pointers = model::exec_pointers(arguments),
                           variable_pointers = model::exec_pointers(variables);
  const pid_t parent = ::getpid();
  // otherwise a child that fails to start could write the buffered output again
  std::fflush(nullptr);
  pid_ = log < 0 ? -1 : ::fork();
  if (pid_ == 0)
    exec_sample(arguments.front().c_str(), argument_pointers.data(), variable_pointers.data(), log,
                parent);
  const int error = errno;
  if (log >= 0) ::close(log);
  if (pid_ < 0) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw std::runtime_error("cannot start " + sample.string() + ": " + std::strerror(error));
  }
  running_ = true;
}

SampleRun::~SampleRun() {
  stop();
  std::error_code ignored;
  if (!socket_.empty()) fs::remove(socket_, ignored);
  fs::remove_all(folder_, ignored);
}

bool SampleRun::is_running() {
  if (running_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) running_ = false;
  return running_;
}

std::string SampleRun::reason() const {
  std::ifstream log(folder_ / "log.txt");
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  const std::string how =
      WIFSIGNALED(status_) ? "the sample was killed by signal " + std::to_string(WTERMSIG(status_))
                           : "the sample exited with code " + std::to_string(WEXITSTATUS(status_));
  return last.empty() ? how : how + ": " + last;
}

void SampleRun::stop() noexcept {
  if (!is_running()) return;
  ::kill(pid_, SIGTERM);
  for (int i = 0; i < kPatience && is_running(); ++i) ::usleep(kStep);
  if (!running_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  running_ = false;
}

}  // namespace reprise::viewer
