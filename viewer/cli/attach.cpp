#include "cli/attach.hpp"

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cctype>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cli/text.hpp"
#include "trace/live/live_client.hpp"
#include "trace/live/session_directory.hpp"
#include "trace/live/tcp_address.hpp"

namespace reprise::cli {

namespace {

constexpr long kPollNs = 50'000'000;

const char* mode_name(trace::LiveProfile mode) {
  switch (mode) {
    case trace::LiveProfile::Off: return "off";
    case trace::LiveProfile::Replays: return "replays";
    case trace::LiveProfile::Sampled: return "sampled";
    case trace::LiveProfile::Every: break;
  }
  return "every";
}

// Blocks SIGINT, SIGTERM and SIGHUP for its lifetime, so that wait() can collect them.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  // Returns whether a signal arrived within kPollNs.
  [[nodiscard]] bool wait() const {
    const timespec moment{0, kPollNs};
    return ::sigtimedwait(&signals_, nullptr, &moment) > 0;
  }

 private:
  sigset_t signals_{}, before_{};
};

// Creates the file when the first record arrives.
class Recorder {
 public:
  explicit Recorder(trace::TraceFileDesc desc) : desc_(std::move(desc)) {}
  void write(const std::shared_ptr<const trace::Chunk>& chunk) {
    const std::lock_guard lock(mutex_);
    if (!file_) file_.emplace(desc_);
    file_->write(chunk);
    ++chunks_;
  }
  void report() {
    const std::lock_guard lock(mutex_);
    if (!file_)
      throw std::runtime_error("the session sent no records; " + desc_.path.string() +
                               " was not written");
    file_->flush();
    if (file_->path() != desc_.path)
      print_message({"another process is writing ", desc_.path.native()});
    print_message(
        {file_->path().native(), ": ", bytes(file_->bytes()), ", ", counted(chunks_, "chunk")});
  }

 private:
  const trace::TraceFileDesc desc_;
  std::mutex mutex_;
  std::optional<trace::TraceFile> file_;
  std::uint64_t chunks_ = 0;
};

void print_start(const trace::LiveStatus& status, std::optional<trace::LiveProfile> requested) {
  print_message({"recording ", status.session.application, ", process ",
                 std::to_string(status.session.pid), " on ", status.session.host,
                 ", until it ends or Ctrl+C"});
  if (!requested || (status.allowed && *requested <= *status.allowed)) return;
  print_message({"requested --profile ", mode_name(*requested), "; the session ",
                 status.allowed ? std::string("grants at most ") + mode_name(*status.allowed)
                                : "rejects profile requests (see REPRISE_REMOTE_PROFILE)"});
}

std::string describe(const std::vector<trace::LiveSession>& sessions) {
  std::string text;
  for (const trace::LiveSession& session : sessions) {
    if (session.alive)
      text += (text.empty() ? "" : ", ") + std::to_string(session.pid) + " (" +
              session.application + ")";
  }
  return text.empty() ? "no session is running: start a program with REPRISE_TRACE=live"
                      : "running sessions: " + text;
}

}  // namespace

std::string find_session(const std::string& text) {
  if (text.find('/') != std::string::npos) return text;
  const auto sessions = trace::list_sessions();
  std::vector<std::string> found;
  for (const trace::LiveSession& session : sessions) {
    if (session.alive && (std::to_string(session.pid) == text || session.application == text))
      found.push_back(session.path);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    throw std::runtime_error("several sessions match " + text +
                             "; give a process id or socket (see reprise sessions)");
  if (text.find(':') != std::string::npos && trace::parse_tcp_address(text)) return text;
  throw std::runtime_error("no live session matches " + text + "; " + describe(sessions));
}

void record_session(const AttachDesc& desc) {
  const StopSignals signals;  // blocks the signals before any thread starts that could receive them
  Recorder recorder(desc.file);
  trace::LiveClient client(
      {find_session(desc.session), desc.token,
       [&](const std::shared_ptr<const trace::Chunk>& chunk) { recorder.write(chunk); }});
  if (desc.profile) client.request({trace::LiveRequest::Kind::SetProfile, *desc.profile});
  client.start();
  trace::LiveStatus status = client.status();
  for (bool greeted = false, stopped = false; !stopped; status = client.status()) {
    if (status.state == trace::LiveState::Live && !std::exchange(greeted, true))
      print_start(status, desc.profile);
    if (status.state != trace::LiveState::Live && status.state != trace::LiveState::Connecting)
      break;
    stopped = signals.wait();
  }
  if (status.state == trace::LiveState::Connecting)
    throw std::runtime_error(desc.session + ": stopped before the session answered");
  if (status.state != trace::LiveState::Live && status.state != trace::LiveState::Closed)
    throw std::runtime_error(status.reason);
  recorder.report();
}

}  // namespace reprise::cli
