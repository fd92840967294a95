#include "trace/live/session_directory.hpp"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <tuple>

#include "trace/live/session_path.hpp"
#include "trace/live/stream_io.hpp"

namespace reprise::trace {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

bool session_answers(const std::filesystem::path& path) {
  asio::io_context context;
  SocketOf<asio::local::stream_protocol> socket(context);
  asio::error_code error;
  socket.open({}, error);
  if (!error) socket.non_blocking(true, error);
  // Any other failure, such as a full backlog, means that a process listens.
  if (!error) socket.connect(asio::local::stream_protocol::endpoint(path.native()), error);
  return !error;
}

std::vector<LiveSession> list_sessions() {
  std::vector<LiveSession> out;
  for (const auto& folder : session_folders()) {
    // libstdc++'s directory_iterator ends the process if it gets no memory.
    const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
    while (const dirent* const entry = open ? ::readdir(open.get()) : nullptr) {
      const auto name = parse_session_file_name(entry->d_name);
      const std::filesystem::path path = folder / entry->d_name;
      std::error_code gone;
      if (!name || !std::filesystem::is_socket(path, gone)) continue;
      out.push_back(
          {path, name->pid, name->application, name->rank, name->job, session_answers(path)});
    }
  }
  std::sort(out.begin(), out.end(), [](const LiveSession& a, const LiveSession& b) {
    return std::tie(a.pid, a.path) < std::tie(b.pid, b.path);
  });
  return out;
}

std::size_t remove_stale_sessions() {
  std::size_t removed = 0;
  for (const LiveSession& session : list_sessions()) {
    // A session that is starting has a live process but does not listen yet.
    const bool process_ended = ::kill(static_cast<pid_t>(session.pid), 0) != 0 && errno == ESRCH;
    if (!session.alive && process_ended && ::unlink(session.path.c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace reprise::trace
