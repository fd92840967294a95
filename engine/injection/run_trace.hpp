// RunTrace: the trace of an observed program: its file, its live server, and a thread that
// periodically collects records. Lasts until the process ends; a forked child does not use it.
// Threads: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "profile/overhead_meter.hpp"
#include "profile/trace_options.hpp"
#include "trace/live/live_server.hpp"
#include "trace/trace_writer.hpp"

namespace reprise::detail {

class RunTrace {
 public:
  // Aborted: the process ends within a call of the driver, so the profiler must not be called.
  enum class Last : std::uint8_t { No, Yes, Aborted };
  struct Desc {
    std::string application;
    TraceOptions options;
    // Appends complete records. Called on the trace's thread; the last call is on the thread that
    // calls finish().
    std::function<void(Last last, std::vector<trace::Record>& records)> collect;
    std::function<HookCounts()> take_hooks;
    // Called on the trace's thread when viewers connect, disconnect or request another level;
    // nullopt: no viewer.
    std::function<void(std::optional<trace::LiveProfile> wanted)> on_viewer_level;
    // Called on the writer's thread when the file cannot be written any more.
    std::function<void(const std::string& text)> on_error = {};
  };
  // Throws trace::TraceError and std::system_error. If the live server cannot start, the trace is
  // written only to the file and contains a message.
  explicit RunTrace(Desc desc);
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;
  ~RunTrace();  // calls finish()

  // Starts the thread. Called once.
  void start();
  void add_message(trace::Severity severity, const char* id, std::string text);
  // Writes all remaining data. Idempotent.
  void finish() noexcept;
  // Has the trace's thread write all data that need no call of the profiler, and waits at most
  // three seconds for it. May be called in a signal handler, once.
  void finish_in_signal() noexcept;

 private:
  void serve(const trace::Session& process);
  void run() noexcept;
  void write_before_abort() noexcept;
  void collect(Last last);
  void poll_viewers();
  [[nodiscard]] trace::Time threads_time() noexcept;

  Desc desc_;
  std::shared_ptr<trace::LiveServer> server_;  // null: no live session
  std::unique_ptr<trace::TraceWriter> writer_;
  std::unordered_set<std::uint32_t> named_threads_;  // used by the collecting thread
  std::vector<trace::Record> records_;               // used by the collecting thread
  OverheadMeter overhead_;                           // used by the collecting thread
  std::atomic<ProfileMode> mode_;
  std::atomic<int> requested_level_;                 // a LiveProfile, or kNoRequest
  std::optional<trace::LiveProfile> applied_level_;  // used by the trace's thread
  enum class Abort : std::uint8_t { No, Requested, Written };
  std::atomic<Abort> abort_{Abort::No};
  std::mutex mutex_;                                 // guards stop_ and finished_
  std::condition_variable wake_;
  bool stop_ = false, finished_ = false;
  std::thread thread_;
};

}  // namespace reprise::detail
