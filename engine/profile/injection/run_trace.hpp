// RunTrace: the trace of a program that is watched: its file, its door for viewers, and a thread
// that now and then asks for what there is to say. Ends with the process; after a fork the child
// has no part of it. Threads: any.
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
  enum class Last : std::uint8_t { No, Yes };
  struct Desc {
    std::string application;
    TraceOptions options;
    // Appends what there is to say; on the trace's thread, and at the end on that which ends it.
    std::function<void(Last last, std::vector<trace::Record>& records)> collect;
    std::function<HookCounts()> take_hooks;
    // What a viewer wants, and whether any is there: nullopt: as the program was started; on the
    // trace's thread.
    std::function<void(std::optional<trace::LiveProfile> wanted)> watch;
  };
  // Throws trace::TraceError and std::system_error. Without a place for viewers there is a file
  // alone, and a message in it.
  explicit RunTrace(Desc desc);
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;
  ~RunTrace();  // as finish()

  // From now on it asks; once.
  void start();
  void say(trace::Severity severity, const char* id, std::string text);
  // Writes all that there is; once is enough.
  void finish() noexcept;

 private:
  void serve();
  void run() noexcept;
  void collect(Last last);
  void look_at_viewers();
  [[nodiscard]] trace::Time time_run() noexcept;

  Desc desc_;
  std::shared_ptr<trace::LiveServer> server_;  // null: nobody may look
  std::unique_ptr<trace::TraceWriter> writer_;
  std::unordered_set<std::uint32_t> named_threads_;  // of whoever collects
  std::vector<trace::Record> records_;               // of whoever collects
  OverheadMeter cost_;                               // of whoever collects
  std::atomic<ProfileMode> mode_;
  std::atomic<int> asked_;                  // a LiveProfile, or kNothing
  std::optional<trace::LiveProfile> told_;  // of the trace's thread
  std::mutex mutex_;                        // of stop_ and finished_
  std::condition_variable wake_;
  bool stop_ = false, finished_ = false;
  std::thread thread_;
};

}  // namespace reprise::detail
