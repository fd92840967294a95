// TraceSession: one trace that this process makes: the file, the door for viewers, the writer's
// thread, the ids that records share, and a collector that fetches what replays left behind. One a
// target; instances of one process that name the same target share it. Whole once the last owner is
// gone, or at the end of the process. Threads: any thread.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "profile/finished_trace_files.hpp"
#include "profile/overhead_meter.hpp"
#include "profile/replay_log.hpp"
#include "profile/trace_options.hpp"
#include "trace/live/live_server.hpp"
#include "trace/trace_writer.hpp"

namespace reprise::detail {

class TraceSession {
 public:
  enum class Id : std::uint8_t { Device, Queue, Graph, Buffer, Pool };

  // A device was opened: at the end of the process sessions close before its driver goes, which may
  // have times of replays to tell.
  static void note_device();
  // Throws InvalidArgument naming the file or the address where it can't be made, or is open with
  // other options.
  [[nodiscard]] static std::shared_ptr<TraceSession> open(const TraceOptions& options,
                                                          std::string_view application);
  // `next_ids`: the file goes on; empty: it is made anew.
  TraceSession(const TraceOptions& options, std::string_view application,
               const std::optional<NextIds>& next_ids = std::nullopt);
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;
  ~TraceSession();

  [[nodiscard]] std::uint32_t new_id(Id of) noexcept {
    return ids_[static_cast<std::size_t>(of)].fetch_add(1, std::memory_order_relaxed);
  }
  // What does not fit is counted in the trace, also for want of memory; nothing where the session
  // is over.
  void push(trace::Record record) noexcept;
  // Tells the thread's name, once.
  void name_thread(std::uint32_t thread);
  // A record that could not even be made.
  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }
  // From now on the collector looks after the log, until that is closed.
  void follow(std::shared_ptr<ReplayLog> log);
  [[nodiscard]] CollectorSignal& bell() noexcept { return bell_; }
  // Blocks until what was over before the call is in the file, and given to viewers. Not on a
  // thread of the trace.
  void flush();
  // Writes what there is and ends the threads; later calls do nothing. Once is enough.
  void close() noexcept;

 private:
  enum class Last : std::uint8_t { No, Yes };
  void run() noexcept;
  void collect(Last last);
  void add_cost(Last last);
  [[nodiscard]] trace::Time time_run() noexcept;  // by the threads of the trace
  void start(const TraceOptions& options, std::string_view application,
             const std::optional<NextIds>& next_ids);
  [[nodiscard]] std::shared_ptr<trace::LiveServer> serve(const LiveOptions& live,
                                                         std::string_view application);
  // Viewers; empty: there is none any more.
  void ask(std::optional<ProfileMode> mode);
  void remember() noexcept;  // under the lock of all sessions
  void flush_soon();
  void write_out();

  const std::filesystem::path path_;  // of the file; empty: none
  std::array<std::atomic<std::uint32_t>, kTraceIds> ids_{};
  std::atomic<std::uint64_t> dropped_{0};  // records, for want of memory

  std::shared_mutex writer_mutex_;  // of writer_, not of what is in it
  std::unique_ptr<trace::TraceWriter> writer_;
  std::shared_ptr<trace::LiveServer> server_;  // null: nobody may look

  std::mutex logs_mutex_;  // of logs_ and asked_
  std::vector<std::shared_ptr<ReplayLog>> logs_;
  std::optional<ProfileMode> asked_;
  std::vector<trace::Record> records_;  // of whoever collects
  std::mutex threads_mutex_;
  std::unordered_set<std::uint32_t>
      threads_;         // under threads_mutex_: those that have a name in the trace
  OverheadMeter cost_;  // of whoever collects
  ProfileMode closest_ = ProfileMode::Off;     // of whoever collects: that any graph was looked at
  std::atomic<trace::Time> collector_run_{0};  // time of the collector's thread

  CollectorSignal bell_;
  std::mutex stop_mutex_;  // of what stands below
  bool stop_ = false, closed_ = false;
  std::uint64_t flushes_asked_ = 0, flushes_done_ = 0;
  std::condition_variable flushed_;
  std::thread collector_;
};

}  // namespace reprise::detail
