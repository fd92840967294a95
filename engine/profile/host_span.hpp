// HostSpan: one call's time on the calling thread, and that of its parts, on their way into the
// trace as host ranges: inner ones before the outer, told together when the call is over. Ranges of
// a thread nest: each has the depth at which it stands in none of its own depth. Not for launches,
// which the replays tell. Threads: one at a time; best the one that it began on.
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
  // Begins now; null: there is no trace, and nothing happens.
  HostSpan(std::shared_ptr<TraceSession> session, std::string_view name);
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;
  ~HostSpan();  // ends, and tells

  // A part of the call, until it goes; before the span, and one at a time.
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
  // Whose replays the call is about; all of its ranges.
  void about(std::uint32_t graph) noexcept { graph_ = graph; }

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
  std::shared_ptr<std::atomic<bool>> open_;  // its place on its thread
  std::vector<Timed> parts_;
};

}  // namespace reprise::detail
