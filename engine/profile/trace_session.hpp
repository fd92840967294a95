// TraceSession: one trace of this process: its file, its live server, its writer, the ids that its
// records share, and the collector thread. There is one session per target, shared by the instances
// that use the target. The file is complete after the last owner released the session, at the
// latest at process exit. A forked child does not write to its parent's sessions. Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/creator_process.hpp"
#include "profile/finished_trace_files.hpp"
#include "profile/lifetime_recorder.hpp"
#include "profile/overhead_meter.hpp"
#include "profile/replay_log.hpp"
#include "profile/trace_options.hpp"
#include "trace/live/live_server.hpp"
#include "trace/trace_writer.hpp"

namespace reprise::detail {

class TraceSession {
 public:
  enum class Id : std::uint8_t { Device, Queue, Graph, Buffer, Pool, Inspection };

  // Called after a device's driver was initialised: ensures that sessions close at process exit
  // before the driver, which may still hold times of replays.
  static void register_exit_handler();
  // Returns the open session of the target or creates one. Throws InvalidArgument with the file or
  // address if it cannot be created or is open with other options.
  [[nodiscard]] static std::shared_ptr<TraceSession> open(const TraceOptions& options,
                                                          std::string_view application);
  // `before`: the file to continue; empty: the target is replaced.
  TraceSession(const TraceOptions& options, std::string_view application,
               const std::optional<FinishedTraceFile>& before);
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;
  ~TraceSession();

  [[nodiscard]] std::uint32_t new_id(Id of) noexcept {
    return ids_[static_cast<std::size_t>(of)].fetch_add(1, std::memory_order_relaxed);
  }
  // Records that do not fit, or for which memory is exhausted, are counted in the trace. No effect
  // after close().
  void push(trace::Record record) noexcept;
  // A source of records that holds some back, to stay within a rate. Threads: any.
  class Source {
   public:
    enum class Push : std::uint8_t {
      WithinRate,
      States,  // the latest states at least
      All
    };
    virtual ~Source() = default;
    virtual void push_waiting(Push push) noexcept = 0;
  };
  // The collector calls push_waiting() once, soon, unless forget() is called before.
  void collect_later(Source& source) noexcept;
  // Returns when the collector does not use the source. Must not be called under a lock that
  // push_waiting() takes.
  void forget(Source& source) noexcept;
  // Limits the lifetimes of buffers in the trace.
  [[nodiscard]] RateLimit& lifetime_rate() noexcept { return lifetime_rate_; }
  // No records of the object follow, except those that the logs of a graph still hold.
  void end(trace::ObjectKind kind, std::uint32_t id) noexcept;
  // Records the thread's name once.
  void name_thread(std::uint32_t thread);
  // Counts a record that could not be created.
  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }
  // The collector serves the log until it is closed.
  void follow(std::shared_ptr<ReplayLog> log);
  [[nodiscard]] CollectorSignal& signal() noexcept { return signal_; }
  // Blocks until all data from before the call is in the file and sent to viewers. Must not be
  // called on a thread of the trace.
  void flush();
  // Writes the remaining data and joins the threads. Idempotent.
  void close() noexcept;

 private:
  enum class Collect : std::uint8_t { Periodic, Flush, Last };
  void run() noexcept;
  void collect(Collect how);
  void collect_logs(Collect how);
  void push_waiting(Collect how);
  [[nodiscard]] trace::Time threads_time() noexcept;  // CPU time of the trace's threads, ns
  void start(const TraceOptions& options, std::string_view application,
             const std::optional<FinishedTraceFile>& before);
  [[nodiscard]] std::shared_ptr<trace::LiveServer> serve(const LiveOptions& live,
                                                         const trace::Session& process);
  // Mode that viewers request; empty: no request.
  void request_mode(std::optional<ProfileMode> mode);
  void add_to_finished_files() noexcept;  // requires the mutex of all sessions
  void request_flush();
  void write_out();

  const CreatorProcess process_;
  const std::filesystem::path target_;  // the file that the application asked for; empty: none
  std::filesystem::path path_;          // the file that is written
  std::array<std::atomic<std::uint32_t>, kTraceIds> ids_{};
  std::atomic<std::uint64_t> dropped_{0};  // records dropped for lack of memory

  std::shared_mutex writer_mutex_;  // guards the pointer writer_
  std::unique_ptr<trace::TraceWriter> writer_;
  std::shared_ptr<trace::LiveServer> server_;  // null: no live session

  RateLimit lifetime_rate_{kLifetimeRate};
  std::mutex sources_mutex_;  // guards the members down to source_done_
  std::deque<Source*> sources_;
  Source* source_in_use_ = nullptr;  // by the collector
  std::condition_variable source_done_;

  std::mutex logs_mutex_;  // guards the members down to requested_mode_
  std::vector<std::shared_ptr<ReplayLog>> logs_;
  std::unordered_map<std::uint32_t, std::uint32_t> open_logs_;  // count of logs by graph
  std::vector<trace::Ended> ended_;                             // without a record yet
  std::optional<ProfileMode> requested_mode_;
  std::vector<trace::Record> records_;  // used by the collector
  std::mutex threads_mutex_;
  std::unordered_set<std::uint32_t>
      threads_;             // guarded by threads_mutex_; threads with a name in the trace
  OverheadMeter overhead_;  // used by the collector
  ProfileMode highest_mode_ = ProfileMode::Off;  // used by the collector: highest mode of any graph
  std::atomic<trace::Time> collector_time_{0};   // CPU time of the collector thread, ns

  CollectorSignal signal_;
  std::mutex stop_mutex_;  // guards the members below
  bool stop_ = false, closed_ = false;
  std::uint64_t flushes_requested_ = 0, flushes_done_ = 0;
  std::condition_variable flushed_;
  std::thread collector_;
};

}  // namespace reprise::detail
