#include "trace/live/live_server.hpp"

#include <unistd.h>

#include <array>
#include <mutex>
#include <utility>

#include "trace/live/broadcast.hpp"
#include "trace/live/live_loop.hpp"
#include "trace/live/session_directory.hpp"
#include "trace/live/session_path.hpp"
#include "trace/live/tcp_address.hpp"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

constexpr unsigned kMaxSessionsOfAName = 99;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Sessions of one process get distinct names. Replaces the socket of a dead process with the same
// id.
std::filesystem::path open_in_session_folder(LiveLoop& loop, const SessionName& name) {
  static std::mutex
      one_at_a_time;  // between bind() and listen(), a socket looks like that of a dead process
  const std::lock_guard lock(one_at_a_time);
  const std::filesystem::path folder = make_session_folder();
  remove_stale_sessions();
  for (unsigned number = 1; number <= kMaxSessionsOfAName; ++number) {
    const auto path = folder / session_file_name(name, number);
    if (loop.open_path(path)) return path;
    if (!session_answers(path) && ::unlink(path.c_str()) == 0 && loop.open_path(path)) return path;
  }
  throw TraceError(TraceErrorCode::Io,
                   folder.string() + ": this process has too many live sessions");
}

}  // namespace

LiveServer::LiveServer(LiveServerDesc desc)
    : linger_(desc.linger),
      process_(::getpid()),
      broadcast_(std::make_unique<Broadcast>(desc.viewer_bytes)) {
  if (desc.token.size() > kMaxTokenBytes) {
    throw TraceError(TraceErrorCode::NotAllowed, "a token of " + std::to_string(desc.token.size()) +
                                                     " bytes exceeds the limit of " +
                                                     std::to_string(kMaxTokenBytes));
  }
  if (!desc.listen.empty() && desc.token.empty()) {
    throw TraceError(TraceErrorCode::NotAllowed, desc.listen + ": TCP requires a token");
  }
  loop_ = std::make_unique<LiveLoop>(
      ConnectionContext{*broadcast_,
                        {static_cast<std::uint32_t>(process_), desc.application, host_name()},
                        desc.token,
                        desc.handshake_deadline,
                        desc.remote_profile,
                        std::move(desc.on_request),
                        std::move(desc.on_alone),
                        {},
                        {}},
      desc.max_connections);
  if (!desc.listen.empty()) {
    const auto address = parse_tcp_address(desc.listen);
    if (!address)
      throw TraceError(TraceErrorCode::Io, desc.listen + ": not an address; expected host:port");
    port_ = loop_->open_tcp(address->host, address->port);
  }
  path_ = open_in_session_folder(*loop_, {static_cast<std::uint32_t>(process_), desc.application,
                                          desc.rank, job_number(desc.job)});
  try {
    loop_->start();
  } catch (...) {
    ::unlink(path_.c_str());
    throw;
  }
}

LiveServer::~LiveServer() {
  if (::getpid() == process_) ::unlink(path_.c_str());
  loop_.reset();
}

void LiveServer::write(const std::shared_ptr<const Chunk>& chunk) {
  if (broadcast_->write(chunk) || loop_->waiting()) loop_->wake();
}

std::thread::native_handle_type LiveServer::thread() noexcept { return loop_->thread(); }

void LiveServer::flush() { broadcast_->wait_until_sent(linger_); }

LiveServerStats LiveServer::stats() const {
  LiveServerStats out = loop_->stats();
  out.viewers = broadcast_->viewers();
  out.dropped_chunks = broadcast_->dropped_chunks();
  return out;
}

}  // namespace reprise::trace
