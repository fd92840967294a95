// What an instance writes down of its graphs and replays, and who may look while it runs. Nothing
// unless it is asked for: no thread, no file, no socket. Threads: values; a TraceRange by one at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace reprise {

namespace detail {
class HostSpan;
}

// How closely replays are looked at. More is in the trace, and costs more; the plan and its
// lowering are always the same.
enum class ProfileMode : std::uint8_t {
  Off,      // graphs, buffers and messages; no replay
  Replays,  // when each replay was launched, and when it began and ended on the device
  Sampled,  // and the times of all nodes, of as many replays as cost about 1 % of the time
  Every     // and the times of all nodes of every replay
};

// The most that a viewer of a live trace may ask for. What it asks for holds while a viewer is
// there, before what the application wants.
enum class RemoteProfile : std::uint8_t { Nothing, Replays, Sampled, Every };

struct TraceDesc {
  // "FILE[,max=SIZE][,keep=last|first]", "live", or "live,FILE..." for both; empty: no trace.
  // $REPRISE_TRACE wins over it. SIZE is in bytes, or with k, M or G; at that size the file keeps
  // the newest events, or with keep=first the oldest. Instances of one process that name the same
  // target share it; it is whole once the last of them, and everything made from them, is gone, and
  // has what there is so far after Instance::flush_trace(). A later instance of the process that
  // names the file goes on in it; a later process writes it anew. live: viewers attach and leave at
  // any time, through a socket that only this user may open ("reprise sessions" lists them). A file
  // that is called "live" is "./live".
  std::string_view target = {};
  // Empty: Every where there is a file, Sampled where viewers alone may look. $REPRISE_PROFILE =
  // off | replays | sampled | every wins over it.
  std::optional<ProfileMode> profile = {};
  // Of a live trace: "host:port" to listen on TCP too; without a host, this machine alone. Viewers
  // that come so have to know the token, and without one it is an error. $REPRISE_LISTEN and
  // $REPRISE_TOKEN win over them.
  std::string_view listen = {}, token = {};
};

// A piece of the application's own work on the thread that began it, in the trace from
// Instance::trace_range() until it goes.
class TraceRange {
 public:
  TraceRange() noexcept;  // nothing
  explicit TraceRange(std::unique_ptr<detail::HostSpan> span) noexcept;
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;
  TraceRange(TraceRange&&) noexcept;
  TraceRange& operator=(TraceRange&&) noexcept;
  ~TraceRange();

 private:
  std::unique_ptr<detail::HostSpan> span_;
};

}  // namespace reprise
