#include "profile/trace_session.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "profile/process_info.hpp"
#include "trace/background_thread.hpp"
#include "trace/trace_error.hpp"

namespace reprise::detail {

namespace {

constexpr std::chrono::milliseconds kCollectorPause{20};

[[noreturn]] void refuse(ErrorCode code, const std::string& text) {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Open;
  throw Error(std::move(details), text);
}

// The open sessions of this process.
struct Sessions {
  std::mutex mutex;
  std::condition_variable closed;
  struct Open {
    const TraceSession*
        identity;  // until its file is closed, so longer than the weak pointer leads anywhere
    TraceOptions options;
    std::weak_ptr<TraceSession> session;
  };
  std::vector<Open> open;
  FinishedTraceFiles past;
};
Sessions& sessions() {
  alignas(Sessions) static std::byte place[sizeof(Sessions)];
  static Sessions* const all = new (place) Sessions;  // never destroyed: used after the end of main
  return *all;
}

// An instance that is never dropped has a trace all the same. Made with the first session, and so
// before anything that lets go of one at the end of the process: that is done by the time this
// runs.
struct ExitGate {
  ~ExitGate() {
    std::vector<std::shared_ptr<TraceSession>> left;
    {
      const std::lock_guard lock(sessions().mutex);
      for (const Sessions::Open& one : sessions().open) {
        if (auto session = one.session.lock()) left.push_back(std::move(session));
      }
    }
    for (const auto& session : left) session->close();
  }
};

// For messages.
std::string target_name(const TraceOptions& options) {
  return options.file.path.empty() ? "live" : options.file.path.string();
}

static_assert(static_cast<int>(trace::LiveProfile::Off) == static_cast<int>(ProfileMode::Off));
static_assert(static_cast<int>(trace::LiveProfile::Every) == static_cast<int>(ProfileMode::Every));

void complain(const std::string& text) {
  const std::string line = concat("reprise: trace: ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

// Drivers end in the opposite order of their beginning, and so does this.
void TraceSession::note_device() { static const ExitGate gate; }

std::shared_ptr<TraceSession> TraceSession::open(const TraceOptions& options,
                                                 std::string_view application) {
  static const ExitGate gate;
  std::unique_lock lock(sessions().mutex);
  const auto with_this_target = [&] {
    return std::find_if(
        sessions().open.begin(), sessions().open.end(),
        [&](const Sessions::Open& one) { return one.options.file.path == options.file.path; });
  };
  for (auto found = with_this_target(); found != sessions().open.end();
       found = with_this_target()) {
    auto session = found->session.lock();
    if (!session) {  // its last owner is about to close it
      sessions().closed.wait(lock);
      continue;
    }
    const TraceOptions& first = found->options;
    if (first.file.max_bytes != options.file.max_bytes || first.file.keep != options.file.keep ||
        first.live != options.live) {
      lock.unlock();  // the session may be dropped here
      refuse(ErrorCode::InvalidArgument, concat("the trace ", target_name(options),
                                                " is being written already, with other options"));
    }
    return session;
  }
  // Nothing may fail once there is a session: its end takes the lock that is held here.
  sessions().open.reserve(sessions().open.size() + 1);
  Sessions::Open entry{nullptr, options, {}};
  auto session =
      std::make_shared<TraceSession>(options, application, sessions().past.find(options.file.path));
  entry.identity = session.get();
  entry.session = session;
  sessions().open.push_back(std::move(entry));
  return session;
}

TraceSession::TraceSession(const TraceOptions& options, std::string_view application,
                           const std::optional<NextIds>& next_ids)
    : path_(options.file.path), cost_(trace_now(), clock_read_cost()) {
  try {
    start(options, application, next_ids);
    return;
  } catch (const trace::TraceError& error) {
    writer_.reset();  // the server calls nobody any more
    server_.reset();
    refuse(ErrorCode::InvalidArgument, concat("the trace cannot be written: ", error.what()));
  } catch (const std::system_error& error) {
    writer_.reset();
    server_.reset();
    refuse(ErrorCode::OutOfMemory, concat("no thread could be started for the trace ",
                                          target_name(options), ": ", error.what()));
  }
}

void TraceSession::start(const TraceOptions& options, std::string_view application,
                         const std::optional<NextIds>& next_ids) {
  trace::TraceWriterDesc writer;
  writer.on_error = [](const std::string& text) {
    complain(concat(text, "; the trace ends there, the program goes on"));
  };
  std::shared_ptr<trace::TraceFile> file;
  if (!path_.empty()) {
    trace::TraceFileDesc described = options.file;
    if (next_ids) {
      described.start = trace::TraceFileDesc::Start::Append;
      for (std::size_t i = 0; i < kTraceIds; ++i) ids_[i] = (*next_ids)[i];
    }
    file = std::make_shared<trace::TraceFile>(std::move(described));
    writer.first_sequence = file->next_sequence();
  }
  if (options.live) server_ = serve(*options.live, application);
  writer_ = std::make_unique<trace::TraceWriter>(std::move(writer));
  if (file) writer_->add_sink(std::move(file));
  if (server_) writer_->add_sink(server_);
  push(describe_process(application));
  push(read_clocks());
  collector_ = trace::start_background_thread("reprise-trace", [this] { run(); });
}

std::shared_ptr<trace::LiveServer> TraceSession::serve(const LiveOptions& live,
                                                       std::string_view application) {
  trace::LiveServerDesc desc;
  desc.application = application;
  desc.listen = live.listen;
  desc.token = live.token;
  desc.remote_profile = live.remote_profile;
  desc.on_request = [this](const trace::LiveRequest& request) {
    switch (request.kind) {
      case trace::LiveRequest::Kind::SetProfile:
        ask(static_cast<ProfileMode>(request.profile));
        break;
      case trace::LiveRequest::Kind::Flush: break;
    }
    flush_soon();
  };
  desc.on_alone = [this] { ask(std::nullopt); };
  return std::make_shared<trace::LiveServer>(std::move(desc));
}

TraceSession::~TraceSession() {
  close();
  {
    const std::lock_guard lock(sessions().mutex);
    remember();
    std::erase_if(sessions().open,
                  [this](const Sessions::Open& one) { return one.identity == this; });
  }
  sessions().closed.notify_all();
}

void TraceSession::remember() noexcept {
  if (path_.empty()) return;
  NextIds next{};
  for (std::size_t i = 0; i < kTraceIds; ++i) next[i] = ids_[i].load(std::memory_order_relaxed);
  try {
    sessions().past.add(path_, next);
  } catch (const std::bad_alloc&) {
    complain(
        concat(path_.string(), ": there was no memory to remember that it is to be continued"));
  }
}

void TraceSession::push(trace::Record record) noexcept {
  try {
    const std::shared_lock lock(writer_mutex_);
    if (writer_) static_cast<void>(writer_->push(std::move(record)));
  } catch (const std::bad_alloc&) {
    count_dropped();
  }
}

void TraceSession::follow(std::shared_ptr<ReplayLog> log) {
  const std::lock_guard lock(logs_mutex_);
  log->ask(asked_);
  logs_.push_back(std::move(log));
}

void TraceSession::ask(std::optional<ProfileMode> mode) {
  const std::lock_guard lock(logs_mutex_);
  asked_ = mode;
  for (const auto& log : logs_) log->ask(mode);
}

void TraceSession::flush_soon() {
  const std::lock_guard lock(stop_mutex_);
  ++flushes_asked_;
  bell_.ring();
}

void TraceSession::flush() {
  std::unique_lock lock(stop_mutex_);
  const std::uint64_t mine = ++flushes_asked_;
  bell_.ring();
  flushed_.wait(lock, [&] { return stop_ || flushes_done_ >= mine; });
}

void TraceSession::write_out() {
  const std::shared_lock lock(writer_mutex_);
  if (writer_) writer_->flush();
}

void TraceSession::name_thread(std::uint32_t thread) {
  {
    const std::lock_guard lock(threads_mutex_);
    if (!threads_.insert(thread).second) return;
  }
  if (std::string name = thread_name(thread); !name.empty())
    push(trace::ThreadName{thread, std::move(name)});
}

trace::Time TraceSession::time_run() noexcept {
  trace::Time run = collector_run_.load(std::memory_order_relaxed);
  const std::shared_lock lock(writer_mutex_);
  if (writer_) run += time_run_by(writer_->thread());
  if (server_) run += time_run_by(server_->thread());
  return run;
}

void TraceSession::add_cost(Last last) {
  switch (last) {
    case Last::No: return cost_.tick(trace_now(), closest_, time_run(), records_);
    case Last::Yes: return cost_.finish(trace_now(), closest_, time_run(), records_);
  }
}

void TraceSession::collect(Last last) {
  {
    const std::lock_guard lock(logs_mutex_);
    if (!logs_.empty()) closest_ = ProfileMode::Off;
    for (std::size_t i = 0; i < logs_.size();) {
      const bool more = logs_[i]->collect(records_);
      if (last == Last::Yes) logs_[i]->finish(records_);
      closest_ = std::max(closest_, logs_[i]->mode());
      cost_.add(logs_[i]->take_hooks());
      if (more) {
        ++i;
      } else {
        std::swap(logs_[i], logs_.back());
        logs_.pop_back();
      }
    }
  }
  for (const trace::Record& record : records_) {
    if (const auto* replay = std::get_if<trace::Replay>(&record)) name_thread(replay->thread);
  }
  add_cost(last);
  for (trace::Record& record : records_) push(std::move(record));
  records_.clear();
  if (const std::uint64_t count = dropped_.exchange(0, std::memory_order_relaxed); count != 0) {
    push(trace::Loss{trace_now(), trace::LossKind::Events, count, "there was no memory for them"});
  }
}

void TraceSession::run() noexcept {
  std::unique_lock lock(stop_mutex_);
  while (!stop_) {
    bell_.changed.wait_for(lock, kCollectorPause, [this] {
      return stop_ || bell_.method.load(std::memory_order_relaxed);
    });
    bell_.method.store(false, std::memory_order_relaxed);
    if (stop_) return;
    const std::uint64_t asked = flushes_asked_;
    const bool is_flush = asked != flushes_done_;
    lock.unlock();
    collector_run_.store(time_run_by(pthread_self()), std::memory_order_relaxed);
    try {
      collect(Last::No);
      if (is_flush) write_out();
    } catch (const std::bad_alloc&) {
      count_dropped();  // and on with the next
    }
    lock.lock();
    flushes_done_ = asked;
    if (is_flush) flushed_.notify_all();
  }
}

void TraceSession::close() noexcept {
  {
    const std::lock_guard lock(stop_mutex_);
    if (closed_) return;
    closed_ = true;
    stop_ = true;
  }
  bell_.changed.notify_all();
  flushed_.notify_all();
  if (collector_.joinable()) collector_.join();
  try {
    collect(Last::Yes);
  } catch (const std::bad_alloc&) {
    complain(concat(path_.empty() ? "live" : path_.string(),
                    ": there was no memory for the last records"));
  }
  std::unique_ptr<trace::TraceWriter> writer;
  {
    const std::lock_guard lock(writer_mutex_);
    writer = std::move(writer_);
  }
  writer.reset();  // viewers get what there is
  server_.reset();
}

}  // namespace reprise::detail
