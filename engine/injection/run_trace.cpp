#include "injection/run_trace.hpp"

#include <chrono>
#include <ctime>
#include <exception>
#include <utility>

#include "base/background_thread.hpp"
#include "base/text.hpp"
#include "profile/process_info.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"

namespace reprise::detail {
namespace {

constexpr std::chrono::milliseconds kPause{50};
constexpr int kNoRequest = -1;

}  // namespace

RunTrace::RunTrace(Desc desc)
    : desc_(std::move(desc)),
      overhead_(trace_now(), clock_read_cost()),
      mode_(desc_.options.profile),
      requested_level_(kNoRequest) {
  auto file = std::make_shared<trace::TraceFile>(desc_.options.file);
  const std::string path = file->path().string();
  writer_ =
      std::make_unique<trace::TraceWriter>(trace::TraceWriterDesc{.on_error = desc_.on_error});
  writer_->add_sink(std::move(file));
  trace::Session process = describe_process(desc_.application);
  serve(process);
  static_cast<void>(writer_->push(std::move(process)));
  static_cast<void>(writer_->push(read_clocks()));
  if (path != desc_.options.file.path) {
    add_message(trace::Severity::Warning, "run.file",
                concat("another process is writing ", desc_.options.file.path.string(),
                       "; this process writes ", path));
  }
}

void RunTrace::start() {
  thread_ = start_background_thread("reprise-run", [this] { run(); });
}

RunTrace::~RunTrace() { finish(); }

void RunTrace::serve(const trace::Session& process) {
  if (!desc_.options.live) return;
  trace::LiveServerDesc live;
  live.application = process.application;
  live.rank = process.rank;
  live.job = process.job;
  live.listen = desc_.options.live->listen;
  live.token = desc_.options.live->token;
  live.remote_profile = desc_.options.live->remote_profile;
  live.on_request = [this](const trace::LiveRequest& request) {
    if (request.kind == trace::LiveRequest::Kind::SetProfile)
      requested_level_.store(static_cast<int>(request.profile));
  };
  live.on_alone = [this] { requested_level_.store(kNoRequest); };
  try {
    server_ = std::make_shared<trace::LiveServer>(std::move(live));
  } catch (const trace::TraceError& error) {
    add_message(trace::Severity::Warning, "run.live", concat("no live session: ", error.what()));
    return;
  }
  writer_->add_sink(server_);
}

void RunTrace::add_message(trace::Severity severity, const char* id, std::string text) {
  static_cast<void>(writer_->push(trace::Message{trace_now(), severity, id, std::move(text)}));
}

void RunTrace::poll_viewers() {
  if (!server_) return;
  std::optional<trace::LiveProfile> level;
  if (server_->stats().viewers != 0) {
    const int requested = requested_level_.load();
    level = requested == kNoRequest ? trace::LiveProfile::Every
                                    : static_cast<trace::LiveProfile>(requested);
  }
  if (level == applied_level_) return;
  applied_level_ = level;
  mode_.store(level ? static_cast<ProfileMode>(*level) : desc_.options.profile);
  desc_.on_viewer_level(level);
}

trace::Time RunTrace::threads_time() noexcept {
  trace::Time run = thread_cpu_time(writer_->thread());
  if (thread_.joinable()) run += thread_cpu_time(thread_.native_handle());
  if (server_) run += thread_cpu_time(server_->thread());
  return run;
}

void RunTrace::collect(Last last) {
  desc_.collect(last, records_);
  for (const trace::Record& record : records_) {
    const auto* const replay = std::get_if<trace::Replay>(&record);
    if (replay == nullptr || !named_threads_.insert(replay->thread).second) continue;
    if (std::string name = thread_name(replay->thread); !name.empty())
      static_cast<void>(writer_->push(trace::ThreadName{replay->thread, std::move(name)}));
  }
  overhead_.add(desc_.take_hooks());
  switch (last) {
    case Last::No: overhead_.tick(trace_now(), mode_.load(), threads_time(), records_); break;
    case Last::Yes:
    case Last::Aborted:
      overhead_.finish(trace_now(), mode_.load(), threads_time(), records_);
      break;
  }
  for (trace::Record& record : records_) static_cast<void>(writer_->push(std::move(record)));
  records_.clear();
}

void RunTrace::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, kPause, [this] { return stop_; });
    if (stop_) return;
    lock.unlock();
    if (abort_.load() == Abort::Requested) return write_before_abort();
    try {
      poll_viewers();
      collect(Last::No);
    } catch (const std::exception&) {
      records_.clear();  // out of memory: drop the records and continue
    }
    lock.lock();
  }
}

void RunTrace::write_before_abort() noexcept {
  try {
    collect(Last::Aborted);
    writer_->flush();
  } catch (const std::exception&) {  // out of memory: what is written remains
  }
  abort_.store(Abort::Written);
}

void RunTrace::finish_in_signal() noexcept {
  abort_.store(Abort::Requested);
  constexpr timespec kStep{0, 10'000'000};
  for (int steps = 0; steps < 300 && abort_.load() != Abort::Written; ++steps)
    ::nanosleep(&kStep, nullptr);
}

void RunTrace::finish() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(finished_, true)) return;
    stop_ = true;
  }
  wake_.notify_all();
  try {
    if (thread_.joinable()) thread_.join();
    collect(Last::Yes);
    writer_->flush();
  } catch (const std::exception&) {  // keep the data already written; the program must not notice
  }
  writer_.reset();
  server_.reset();
}

}  // namespace reprise::detail
