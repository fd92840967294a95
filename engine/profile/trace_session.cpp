#include "profile/trace_session.hpp"

#include <pthread.h>

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
    const TraceSession* identity;  // until its file is closed, so longer than the weak pointer leads anywhere
    trace::TraceFileDesc file;
    std::weak_ptr<TraceSession> session;
  };
  std::vector<Open> open;
};
Sessions& sessions() {
  alignas(Sessions) static std::byte place[sizeof(Sessions)];
  static Sessions* const all = new (place) Sessions;  // never destroyed: used after the end of main
  return *all;
}

// An instance that is never dropped has a trace all the same. Made with the first session, and so before anything that lets go
// of one at the end of the process: that is done by the time this runs.
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

void complain(const std::string& text) {
  const std::string line = concat("reprise: trace: ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

std::shared_ptr<TraceSession> TraceSession::open(const TraceOptions& options, std::string_view application) {
  static const ExitGate gate;
  std::unique_lock lock(sessions().mutex);
  const auto with_this_file = [&] {
    return std::find_if(sessions().open.begin(), sessions().open.end(), [&](const Sessions::Open& one) { return one.file.path == options.file.path; });
  };
  for (auto found = with_this_file(); found != sessions().open.end(); found = with_this_file()) {
    auto session = found->session.lock();
    if (!session) {  // its last owner is about to close the file
      sessions().closed.wait(lock);
      continue;
    }
    if (found->file.max_bytes != options.file.max_bytes || found->file.keep != options.file.keep) {
      lock.unlock();  // the session may be dropped here
      refuse(ErrorCode::InvalidArgument, concat("the trace ", options.file.path.string(), " is being written already, with other limits"));
    }
    return session;
  }
  // Nothing may fail once there is a session: its end takes the lock that is held here.
  sessions().open.reserve(sessions().open.size() + 1);
  Sessions::Open entry{nullptr, options.file, {}};
  auto session = std::make_shared<TraceSession>(options.file, application);
  entry.identity = session.get();
  entry.session = session;
  sessions().open.push_back(std::move(entry));
  return session;
}

TraceSession::TraceSession(const trace::TraceFileDesc& file, std::string_view application) : file_(file) {
  try {
    auto sink = std::make_shared<trace::TraceFile>(file_);
    writer_ = std::make_unique<trace::TraceWriter>(trace::TraceWriterDesc{.on_error = complain});
    writer_->add_sink(std::move(sink));
    push(describe_process(application));
    push(read_clocks());
    collector_ = std::thread([this] { run(); });
    pthread_setname_np(collector_.native_handle(), "reprise-trace");
  } catch (const trace::TraceError& error) {
    refuse(ErrorCode::InvalidArgument, concat("the trace cannot be written: ", error.what()));
  } catch (const std::system_error& error) {
    refuse(ErrorCode::OutOfMemory, concat("no thread could be started for the trace ", file_.path.string(), ": ", error.what()));
  }
}

TraceSession::~TraceSession() {
  close();
  {
    const std::lock_guard lock(sessions().mutex);
    std::erase_if(sessions().open, [this](const Sessions::Open& one) { return one.identity == this; });
  }
  sessions().closed.notify_all();
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
  logs_.push_back(std::move(log));
}

void TraceSession::name_thread(std::uint32_t thread) {
  if (!threads_.insert(thread).second) return;
  if (std::string name = thread_name(thread); !name.empty()) push(trace::ThreadName{thread, std::move(name)});
}

void TraceSession::collect(Last last) {
  {
    const std::lock_guard lock(logs_mutex_);
    for (std::size_t i = 0; i < logs_.size();) {
      const bool more = logs_[i]->collect(records_);
      if (last == Last::Yes) logs_[i]->finish(records_);
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
  for (trace::Record& record : records_) push(std::move(record));
  records_.clear();
  if (const std::uint64_t count = dropped_.exchange(0, std::memory_order_relaxed); count != 0) {
    push(trace::Loss{trace_now(), trace::LossKind::Events, count, "there was no memory for them"});
  }
}

void TraceSession::run() noexcept {
  std::unique_lock lock(stop_mutex_);
  while (!stop_) {
    bell_.changed.wait_for(lock, kCollectorPause, [this] { return stop_ || bell_.rung.load(std::memory_order_relaxed); });
    bell_.rung.store(false, std::memory_order_relaxed);
    if (stop_) return;
    lock.unlock();
    try {
      collect(Last::No);
    } catch (const std::bad_alloc&) {
      count_dropped();  // and on with the next
    }
    lock.lock();
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
  if (collector_.joinable()) collector_.join();
  try {
    collect(Last::Yes);
  } catch (const std::bad_alloc&) {
    complain(concat(file_.path.string(), ": there was no memory for the last records"));
  }
  std::unique_ptr<trace::TraceWriter> writer;
  {
    const std::lock_guard lock(writer_mutex_);
    writer = std::move(writer_);
  }
}

}  // namespace reprise::detail
