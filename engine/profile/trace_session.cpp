#include "profile/trace_session.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <string>
#include <system_error>
#include <utility>

#include <reprise/error.hpp>

#include "base/background_thread.hpp"
#include "base/creator_process.hpp"
#include "base/shown_text.hpp"
#include "base/text.hpp"
#include "profile/process_info.hpp"
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

struct Sessions {
  std::mutex mutex;
  std::condition_variable closed;
  struct Open {
    const TraceSession*
        identity;  // valid until the file is closed, which is after weak_ptr expires
    TraceOptions options;
    std::weak_ptr<TraceSession> session;
  };
  std::vector<Open> open;
  FinishedTraceFiles finished_files;
};
// The open sessions of this process.
Sessions& sessions() {
  static PerProcess<Sessions> all;
  return all.get();
}

// Closes the sessions of instances that are never destroyed. Constructed with the first session and
// thus before any static owner of one, so its destructor runs after theirs.
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

// Needs no memory, which may be what is short.
void print_error(std::string_view subject, std::string_view text) noexcept {
  print_message({"trace: ", subject, text});
}

}  // namespace

// Exit handlers run in reverse order of registration: after a driver's initialisation, this one
// runs before the driver's.
void TraceSession::register_exit_handler() { static const ExitGate gate; }

std::shared_ptr<TraceSession> TraceSession::open(const TraceOptions& options,
                                                 std::string_view application) {
  static const ExitGate gate;
  std::unique_lock lock(sessions().mutex);
  const auto find_target = [&] {
    return std::find_if(
        sessions().open.begin(), sessions().open.end(),
        [&](const Sessions::Open& one) { return one.options.file.path == options.file.path; });
  };
  for (auto found = find_target(); found != sessions().open.end(); found = find_target()) {
    auto session = found->session.lock();
    if (!session) {  // its last owner is closing it
      sessions().closed.wait(lock);
      continue;
    }
    const TraceOptions& first = found->options;
    if (first.file.max_bytes != options.file.max_bytes || first.file.keep != options.file.keep ||
        first.live != options.live) {
      lock.unlock();  // releasing the session takes the lock
      refuse(ErrorCode::InvalidArgument,
             concat("the trace ", target_name(options), " is already open with other options"));
    }
    return session;
  }
  // Nothing may fail after the session exists: its destructor takes the lock held here. So the
  // memory of its owner is there before it.
  struct Owner {
    const CreatorProcess process;
    TraceSession* session = nullptr;
    ~Owner() {
      if (session != nullptr) process.is_current() ? delete session : keep_until_exit(session);
    }
  };
  sessions().open.reserve(sessions().open.size() + 1);
  Sessions::Open entry{nullptr, options, {}};
  auto before = sessions().finished_files.find(options.file.path);
  const auto owner = std::make_shared<Owner>();
  owner->session = new TraceSession(options, application, before);
  const std::shared_ptr<TraceSession> session(owner, owner->session);
  entry.identity = session.get();
  entry.session = session;
  sessions().open.push_back(std::move(entry));
  return session;
}

TraceSession::TraceSession(const TraceOptions& options, std::string_view application,
                           const std::optional<FinishedTraceFile>& before)
    : target_(options.file.path), overhead_(trace_now(), clock_read_cost()) {
  try {
    start(options, application, before);
    return;
  } catch (const trace::TraceError& error) {
    writer_.reset();  // no callback runs after this
    server_.reset();
    refuse(ErrorCode::InvalidArgument, concat("the trace cannot be written: ", error.what()));
  } catch (const std::system_error& error) {
    writer_.reset();
    server_.reset();
    refuse(ErrorCode::OutOfMemory, concat("cannot start a thread for the trace ",
                                          target_name(options), ": ", error.what()));
  } catch (...) {
    writer_.reset();
    server_.reset();
    throw;
  }
}

void TraceSession::start(const TraceOptions& options, std::string_view application,
                         const std::optional<FinishedTraceFile>& before) {
  trace::TraceWriterDesc writer;
  writer.on_error = [](const std::string& text) {
    print_error(text, "; this output of the trace ends here");
  };
  std::shared_ptr<trace::TraceFile> file;
  if (!target_.empty()) {
    trace::TraceFileDesc described = options.file;
    if (before) {
      described.path = before->path;
      described.start = trace::TraceFileDesc::Start::Append;
      for (std::size_t i = 0; i < kTraceIds; ++i) ids_[i] = before->ids[i];
    }
    file = std::make_shared<trace::TraceFile>(described);
    writer.first_sequence = file->next_sequence();
    path_ = file->path();
    if (path_ != described.path) {
      print_error(concat("another process is writing ", described.path.string()),
                  concat("; this process writes ", path_.string()));
    }
  }
  trace::Session process = describe_process(application);
  if (options.live) server_ = serve(*options.live, process);
  writer_ = std::make_unique<trace::TraceWriter>(std::move(writer));
  if (file) writer_->add_sink(std::move(file));
  if (server_) writer_->add_sink(server_);
  push(std::move(process));
  push(read_clocks());
  collector_ = start_background_thread("reprise-trace", [this] { run(); });
}

std::shared_ptr<trace::LiveServer> TraceSession::serve(const LiveOptions& live,
                                                       const trace::Session& process) {
  trace::LiveServerDesc desc;
  desc.application = process.application;
  desc.rank = process.rank;
  desc.job = process.job;
  desc.listen = live.listen;
  desc.token = live.token;
  desc.remote_profile = live.remote_profile;
  desc.on_request = [this](const trace::LiveRequest& request) {
    switch (request.kind) {
      case trace::LiveRequest::Kind::SetProfile:
        request_mode(static_cast<ProfileMode>(request.profile));
        break;
      case trace::LiveRequest::Kind::Flush: break;
    }
    request_flush();
  };
  desc.on_alone = [this] { request_mode(std::nullopt); };
  return std::make_shared<trace::LiveServer>(std::move(desc));
}

TraceSession::~TraceSession() {
  close();
  {
    const std::lock_guard lock(sessions().mutex);
    add_to_finished_files();
    std::erase_if(sessions().open,
                  [this](const Sessions::Open& one) { return one.identity == this; });
  }
  sessions().closed.notify_all();
}

void TraceSession::add_to_finished_files() noexcept {
  if (target_.empty()) return;
  NextIds next{};
  for (std::size_t i = 0; i < kTraceIds; ++i) next[i] = ids_[i].load(std::memory_order_relaxed);
  try {
    sessions().finished_files.add(target_, {path_, next});
  } catch (const std::bad_alloc&) {
    print_error(path_.native(), ": out of memory; a later trace will replace this file");
  }
}

void TraceSession::push(trace::Record record) noexcept {
  if (!process_.is_current()) return;
  try {
    const std::shared_lock lock(writer_mutex_);
    if (writer_) static_cast<void>(writer_->push(std::move(record)));
  } catch (const std::bad_alloc&) {
    count_dropped();
  }
}

void TraceSession::follow(std::shared_ptr<ReplayLog> log) {
  const std::lock_guard lock(logs_mutex_);
  log->request_mode(requested_mode_);
  ++open_logs_[log->graph()];
  logs_.push_back(std::move(log));
}

void TraceSession::collect_later(Source& source) noexcept {
  try {
    const std::lock_guard lock(sources_mutex_);
    sources_.push_back(&source);
  } catch (const std::bad_alloc&) {
    count_dropped();
  }
}

void TraceSession::forget(Source& source) noexcept {
  std::unique_lock lock(sources_mutex_);
  std::erase(sources_, &source);
  source_done_.wait(lock, [&] { return source_in_use_ != &source; });
  std::erase(sources_, &source);  // added again by the collector
}

void TraceSession::end(trace::ObjectKind kind, std::uint32_t id) noexcept {
  try {
    const std::lock_guard lock(logs_mutex_);
    ended_.push_back({trace_now(), kind, id});
  } catch (const std::bad_alloc&) {
    count_dropped();
  }
}

void TraceSession::request_mode(std::optional<ProfileMode> mode) {
  const std::lock_guard lock(logs_mutex_);
  requested_mode_ = mode;
  for (const auto& log : logs_) log->request_mode(mode);
}

void TraceSession::request_flush() {
  const std::lock_guard lock(stop_mutex_);
  ++flushes_requested_;
  signal_.notify();
}

void TraceSession::flush() {
  if (!process_.is_current()) return;
  std::unique_lock lock(stop_mutex_);
  const std::uint64_t mine = ++flushes_requested_;
  signal_.notify();
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

trace::Time TraceSession::threads_time() noexcept {
  trace::Time run = collector_time_.load(std::memory_order_relaxed);
  const std::shared_lock lock(writer_mutex_);
  if (writer_) run += thread_cpu_time(writer_->thread());
  if (server_) run += thread_cpu_time(server_->thread());
  return run;
}

void TraceSession::push_waiting(Collect how) {
  const Source::Push push = how == Collect::Periodic ? Source::Push::WithinRate
                            : how == Collect::Flush  ? Source::Push::States
                                                     : Source::Push::All;
  std::unique_lock lock(sources_mutex_);
  // Sources that are added meanwhile wait for the next collection.
  for (std::size_t left = sources_.size(); left != 0 && !sources_.empty(); --left) {
    Source* const source = source_in_use_ = sources_.front();
    sources_.pop_front();
    lock.unlock();
    source->push_waiting(push);
    lock.lock();
    source_in_use_ = nullptr;
    source_done_.notify_all();
  }
}

void TraceSession::collect_logs(Collect how) {
  const std::lock_guard lock(logs_mutex_);
  if (!logs_.empty()) highest_mode_ = ProfileMode::Off;
  for (std::size_t i = 0; i < logs_.size();) {
    const bool more = logs_[i]->collect(records_);
    if (how == Collect::Last) logs_[i]->finish(records_);
    highest_mode_ = std::max(highest_mode_, logs_[i]->mode());
    overhead_.add(logs_[i]->take_hooks());
    if (more) {
      ++i;
    } else {
      const auto open = open_logs_.find(logs_[i]->graph());
      if (--open->second == 0) open_logs_.erase(open);
      std::swap(logs_[i], logs_.back());
      logs_.pop_back();
    }
  }
  std::erase_if(ended_, [&](const trace::Ended& ended) {
    if (ended.kind == trace::ObjectKind::Graph && open_logs_.contains(ended.id)) return false;
    records_.emplace_back(ended);
    return true;
  });
}

void TraceSession::collect(Collect how) {
  push_waiting(how);
  collect_logs(how);
  for (const trace::Record& record : records_) {
    if (const auto* replay = std::get_if<trace::Replay>(&record)) name_thread(replay->thread);
  }
  if (how == Collect::Last) {
    overhead_.finish(trace_now(), highest_mode_, threads_time(), records_);
  } else {
    overhead_.tick(trace_now(), highest_mode_, threads_time(), records_);
  }
  for (trace::Record& record : records_) push(std::move(record));
  records_.clear();
  if (const std::uint64_t count = dropped_.exchange(0, std::memory_order_relaxed); count != 0) {
    push(trace::Loss{trace_now(), trace::LossKind::Events, count, "out of memory"});
  }
}

void TraceSession::run() noexcept {
  std::unique_lock lock(stop_mutex_);
  while (!stop_) {
    signal_.changed.wait_for(lock, kCollectorPause, [this] {
      return stop_ || signal_.is_set.load(std::memory_order_relaxed);
    });
    signal_.is_set.store(false, std::memory_order_relaxed);
    if (stop_) return;
    const std::uint64_t requested = flushes_requested_;
    const bool is_flush = requested != flushes_done_;
    lock.unlock();
    collector_time_.store(thread_cpu_time(pthread_self()), std::memory_order_relaxed);
    try {
      collect(is_flush ? Collect::Flush : Collect::Periodic);
      if (is_flush) write_out();
    } catch (const std::bad_alloc&) {
      count_dropped();  // continue with the next iteration
    }
    lock.lock();
    flushes_done_ = requested;
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
  signal_.changed.notify_all();
  flushed_.notify_all();
  if (collector_.joinable()) collector_.join();
  try {
    collect(Collect::Last);
  } catch (const std::bad_alloc&) {
    print_error(path_.empty() ? "live" : std::string_view(path_.native()),
                ": out of memory; the last records are missing");
  }
  std::unique_ptr<trace::TraceWriter> writer;
  {
    const std::lock_guard lock(writer_mutex_);
    writer = std::move(writer_);
  }
  writer.reset();  // sends the remaining chunks to viewers
  server_.reset();
}

}  // namespace reprise::detail
