#include "trace/live/session_directory.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>

#include "trace/live/asio.hpp"
#include "trace/live/session_path.hpp"

namespace reprise::trace {

bool session_answers(const std::filesystem::path& path) {
  asio::io_context context;
  asio::local::stream_protocol::socket socket(context);
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
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code gone;
      const auto name = parse_session_file_name(at->path().filename().native());
      if (!name || !at->is_socket(gone)) continue;
      out.push_back({at->path(), name->pid, name->application, session_answers(at->path())});
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
