#include "cli/live_viewer.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <string>
#include <vector>

#include "base/background_thread.hpp"
#include "model/program_environment.hpp"
#include "model/program_files.hpp"
#include "trace/live/session_directory.hpp"

namespace reprise::cli {

namespace {

constexpr std::chrono::milliseconds kPollInterval{100};

// Returns 0 if the process could not be started.
pid_t open_viewer(const char* subcommand, const std::filesystem::path& session) {
  std::vector<std::string> command = {model::this_program().string(), subcommand, session.string()},
                           environment = model::program_environment({});
  pid_t pid = 0;
  posix_spawnattr_t attributes;  // this thread blocks signals
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      ::posix_spawn(&pid, command.front().c_str(), nullptr, &attributes,
                    model::exec_pointers(command).data(), model::exec_pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : 0;
}

}  // namespace

LiveViewer::LiveViewer(Kind kind, const std::filesystem::path& session)
    : kind_(kind), viewer_(open_viewer(kind == Kind::Window ? "view" : "serve", session)) {}

LiveViewer::LiveViewer(Kind kind) : kind_(kind) {
  for (const trace::LiveSession& session : trace::list_sessions()) before_.insert(session.path);
  thread_ = detail::start_background_thread("reprise-wait", [this] { wait_for_session(); });
}

LiveViewer::~LiveViewer() { finish(); }

void LiveViewer::wait_for_session() {
  std::unique_lock lock(mutex_);
  while (!is_finished_) {
    try {
      for (const trace::LiveSession& session : trace::list_sessions()) {
        if (!session.alive || before_.contains(session.path)) continue;
        viewer_ = open_viewer(kind_ == Kind::Window ? "view" : "serve", session.path);
        return;
      }
    } catch (const std::bad_alloc&) {
      // The next pause may free memory.
    }
    wake_.wait_for(lock, kPollInterval, [this] { return is_finished_; });
  }
}

bool LiveViewer::finish() {
  {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (viewer_ == 0) return false;
  if (kind_ == Kind::Server) ::kill(viewer_, SIGTERM);
  int status = 0;
  while (::waitpid(viewer_, &status, 0) < 0 && errno == EINTR) {
  }
  viewer_ = 0;
  return true;
}

}  // namespace reprise::cli
