// HostSpan: records the time of one call on the calling thread, and of its parts, as host ranges.
// Parts are recorded before the call, all at its end. Ranges of a thread nest; each has the
// smallest depth that no open range of the thread occupies. Not used for launches, which replays
// record. Threads: one at a time, preferably the constructing one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/records.hpp"

namespace reprise::detail {

class TraceSession;

class HostSpan {
 public:
  // Starts the range. A null session disables the span.
  HostSpan(std::shared_ptr<TraceSession> session, std::string_view name);
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;
  ~HostSpan();  // ends and records the range

  // A part of the call, from construction to destruction. Parts do not overlap and end before the
  // span.
  class Part {
   public:
    explicit Part(HostSpan* span) noexcept : span_(span) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part();

   private:
    HostSpan* span_;
  };
  [[nodiscard]] Part part(const char* name);
  // Assigns all ranges of the span to a graph.
  void set_graph(std::uint32_t graph) noexcept { graph_ = graph; }

 private:
  struct Timed {
    const char* name;
    trace::Time started, ended;
  };
  void push(std::string name, std::uint16_t depth, trace::Time started, trace::Time ended);

  std::shared_ptr<TraceSession> session_;
  std::string name_;
  std::uint32_t graph_ = trace::kNone, thread_ = 0;
  std::uint16_t depth_ = 0;
  trace::Time started_ = 0;
  std::shared_ptr<std::atomic<bool>> open_;  // entry in the list of the thread's open spans
  std::vector<Timed> parts_;
};

}  // namespace reprise::detail
