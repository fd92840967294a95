#include "application/program_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "model/program_environment.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;

constexpr int kPatience = 100;        // in units of kStep, for a process that was asked to exit
constexpr useconds_t kStep = 10'000;  // us
constexpr char kName[] = "digits";
constexpr int kNoStart = 127;
constexpr int kFolderTries = 10;

// Folders with this prefix and a suffix of mkdtemp() are removed; nobody else names folders so.
constexpr std::string_view kFolderPrefix = ".reprise-viewer-program-", kFolderSuffix = "XXXXXX";
constexpr std::streamoff kMaxTail = 1 << 20;  // bytes of the output that are read

// Locks a folder for as long as the file is open; the lock ends with this process, however that
// ends. Returns -1 if another process has the lock, or if the folder does not exist.
int lock_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat info {};
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &info) == 0 && info.st_nlink != 0 &&
      info.st_uid == ::geteuid())
    return file;
  ::close(file);
  return -1;
}

// Removes folders of viewers that were killed: nobody holds their lock.
void remove_abandoned_folders(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kFolderPrefix) ||
        name.size() != kFolderPrefix.size() + kFolderSuffix.size())
      continue;
    const int lock = lock_folder(at->path());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
    ::close(lock);
  }
}

struct LockedFolder {
  fs::path path;
  int lock = -1;
};

LockedFolder make_folder() {
  const fs::path parent = fs::temp_directory_path();
  remove_abandoned_folders(parent);
  // Another viewer may take a new folder for an abandoned one before it is locked.
  for (int i = 0; i < kFolderTries; ++i) {
    std::string pattern = (parent / kFolderPrefix).string().append(kFolderSuffix);
    if (!::mkdtemp(pattern.data())) break;
    if (const int lock = lock_folder(pattern); lock >= 0) return {pattern, lock};
  }
  throw std::runtime_error("cannot create a directory for the program in " + parent.string() +
                           ": " + std::strerror(errno));
}

// The environment of this process, with a live session whose profiling mode a viewer may choose: of
// a program that links the engine, or of any other that the injected library observes.
std::vector<std::string> environment(const fs::path& library, const model::RunErrors& errors) {
  model::EnvironmentChange change{.set = {{"REPRISE_TRACE", "live"},
                                          {"REPRISE_PROFILE", "sampled"},
                                          {"REPRISE_REMOTE_PROFILE", "every"}},
                                  .unset = {"REPRISE_LISTEN"}};
  if (!library.empty()) {
    change.set.merge(model::observation_variables(
        {.library = library, .trace = "live", .errors = errors.path()}));
  }
  return model::program_environment(change);
}

struct Execution {
  char *const *arguments, *const *variables;
  const char* directory;  // null: the current one
  int log;
  pid_t parent;
};

// Runs in the child, with signals blocked; only async-signal-safe calls are allowed.
[[noreturn]] void execute(const Execution& run) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != run.parent) ::_exit(kNoStart);  // the parent ended before prctl()
  // This process's handlers must not run in the child.
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(run.log, STDOUT_FILENO);
  ::dup2(run.log, STDERR_FILENO);
  if (run.directory == nullptr || ::chdir(run.directory) == 0)
    ::execvpe(run.arguments[0], run.arguments, run.variables);
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

std::vector<std::string> words_of(const std::string& command_line) {
  wordexp_t expanded{};
  const int error = ::wordexp(command_line.c_str(), &expanded, WRDE_NOCMD);
  if (error == WRDE_NOSPACE) ::wordfree(&expanded);
  const char* why = nullptr;
  switch (error) {
    case 0: break;
    case WRDE_BADCHAR: why = "quote | & ; < > ( ) { }, or run a shell: sh -c '...'"; break;
    case WRDE_CMDSUB: why = "command substitution needs a shell: sh -c '...'"; break;
    case WRDE_SYNTAX: why = "a quote is not closed"; break;
    default: why = "the command cannot be parsed"; break;
  }
  if (why != nullptr) throw std::runtime_error(why);
  std::vector<std::string> words(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  ::wordfree(&expanded);
  if (words.empty()) throw std::runtime_error("the command is empty");
  return words;
}

ProgramRun::ProgramRun(ProgramRunDesc desc) : name_(std::move(desc.name)) {
  LockedFolder folder = make_folder();
  folder_ = std::move(folder.path);
  lock_ = folder.lock;
  const fs::path log_path = folder_ / "log.txt", work = folder_ / "work";
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool is_private = desc.directory == ProgramRunDesc::Directory::Private;
  if (is_private) fs::create_directory(work);
  std::vector<std::string> variables = environment(desc.library, errors_);
  const std::vector<char*> argument_pointers = model::exec_pointers(desc.command),
                           variable_pointers = model::exec_pointers(variables);
  const Execution run{argument_pointers.data(), variable_pointers.data(),
                      is_private ? work.c_str() : nullptr, log, ::getpid()};
  // otherwise a child that fails to start could write the buffered output again
  std::fflush(nullptr);
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = log < 0 ? -1 : ::fork();
  if (pid_ == 0) execute(run);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (log >= 0) ::close(log);
  if (pid_ < 0) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    ::close(lock_);
    throw std::runtime_error("cannot start " + desc.command.front() + ": " + std::strerror(error));
  }
  ::setpgid(pid_, pid_);  // here as well: the group exists before anybody looks for it
  running_ = true;
}

ProgramRun::~ProgramRun() {
  stop();
  std::error_code ignored;
  if (!socket_.empty()) fs::remove(socket_, ignored);
  fs::remove_all(folder_, ignored);
  ::close(lock_);
}

bool ProgramRun::is_running() {
  siginfo_t info{};
  // Not reaped before stop(), so that no other process gets its number.
  if (running_ &&
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid_) {
    running_ = false;
    was_killed_ = info.si_code != CLD_EXITED;
    status_ = info.si_status;
  }
  return running_;
}

bool ProgramRun::has_process(pid_t pid) const { return pid == pid_ || ::getpgid(pid) == pid_; }

std::vector<std::string> ProgramRun::output(std::size_t lines) {
  for (std::string& error : errors_.take()) reported_.push_back(std::move(error));
  std::ifstream log(folder_ / "log.txt", std::ios::ate);
  if (const std::streamoff size = log.tellg(); size != read_size_) {
    read_size_ = size;
    lines_.clear();
    log.seekg(std::max<std::streamoff>(0, size - kMaxTail));
    for (std::string line; std::getline(log, line);) {
      line.erase(0,
                 line.rfind('\r', line.size() < 2 ? 0 : line.size() - 2) + 1);  // a progress line
      if (!line.empty()) lines_.push_back(std::move(line));
    }
  }
  std::vector<std::string> all = lines_;
  all.insert(all.end(), reported_.begin(), reported_.end());
  if (all.size() > lines) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(lines));
  return all;
}

std::string ProgramRun::reason() {
  const std::string how = name_ + (was_killed_ ? " was killed by signal " : " exited with code ") +
                          std::to_string(status_);
  const std::vector<std::string> last = output(1);
  return last.empty() ? how : how + ": " + last.front();
}

// Ends the whole group, which may outlive the process.
void ProgramRun::stop() noexcept {
  ::kill(-pid_, SIGTERM);
  for (int i = 0; i < kPatience && is_running(); ++i) ::usleep(kStep);
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  running_ = false;
}

}  // namespace reprise::viewer
