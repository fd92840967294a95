// TraceDesc: whether and where an instance records its graphs and replays, and who may view them
// live. Without a target there is no trace thread, file or socket. Threads: values; a TraceRange is
// used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <reprise/abi.hpp>

namespace reprise::detail {
class HostSpan;
struct HandleAccess;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// The detail with which a trace records replays, in increasing order of cost. The plan and its
// lowering do not depend on it.
enum class ProfileMode : std::uint8_t {
  Off,      // graphs, buffers and messages only
  Replays,  // and launch, start and end of every replay
  Sampled,  // and all nodes of as many replays as cost about 1 % of the time
  Every     // and all nodes of every replay
};

// The maximum profile mode that a viewer of a live trace may request. While a viewer is attached,
// its request overrides the application's mode.
enum class RemoteProfile : std::uint8_t { Nothing, Replays, Sampled, Every };

[[nodiscard]] REPRISE_API std::string_view to_string(ProfileMode mode) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(RemoteProfile limit) noexcept;

struct TraceDesc {
  // "FILE[,max=SIZE][,keep=last|first]", "live", or "live,FILE..." for both; empty: no trace.
  // $REPRISE_TRACE overrides it.
  //
  // SIZE is in bytes, or with the suffix k, M or G. A file of that size keeps the newest events, or
  // with keep=first the oldest. Instances of one process with the same target share it. The file is
  // current after Instance::flush_trace(). It is complete when the last of these instances is
  // destroyed after all objects created from them; otherwise soon after the last object. A later
  // instance of the process continues the file. A later process replaces it; a process that starts
  // meanwhile writes FILE.PID and reports that to stderr.
  //
  // live: viewers attach and detach at any time, through a socket that only this user may open
  // ("reprise sessions" lists them). A file named "live" is "./live".
  std::string_view target = {};
  // Default: Every with a file, Sampled with "live" alone. $REPRISE_PROFILE = off | replays |
  // sampled | every overrides it.
  std::optional<ProfileMode> profile = {};
  // A live trace also listens for TCP viewers on "host:port"; without a host, on the loopback
  // address only. TCP viewers must present the token; `listen` without a token throws
  // InvalidArgument. $REPRISE_LISTEN and $REPRISE_TOKEN override them.
  std::string_view listen = {}, token = {};
};

// A host range of the application in the trace, on the thread that created it: from
// Instance::trace_range() until its destruction. Move-only.
class REPRISE_API TraceRange {
 public:
  TraceRange() noexcept;  // records no range
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;
  TraceRange(TraceRange&&) noexcept;
  TraceRange& operator=(TraceRange&&) noexcept;
  ~TraceRange();

 private:
  friend struct detail::HandleAccess;
  explicit TraceRange(std::unique_ptr<detail::HostSpan> span) noexcept;

  std::unique_ptr<detail::HostSpan> span_;
};

}  // namespace reprise::inline REPRISE_ABI
