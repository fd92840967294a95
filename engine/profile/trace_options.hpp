// TraceOptions: the validated trace settings of the application and the environment. Knows nothing
// about files, sockets and threads. Threads: pure functions of their arguments and the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/trace.hpp>

#include "trace/live/live_request.hpp"
#include "trace/trace_file.hpp"

namespace reprise::detail {

struct LiveOptions {
  std::string listen, token;  // of TCP; empty: no TCP
  std::optional<trace::LiveProfile>
      remote_profile;  // highest level that viewers may request; empty: none
  friend bool operator==(const LiveOptions&, const LiveOptions&) = default;
};

struct TraceOptions {
  // absolute path, of this process's rank in a job; empty: no file
  trace::TraceFileDesc file;
  std::optional<LiveOptions> live;  // empty: no live session
  ProfileMode profile = ProfileMode::Every;
};

// Settings from the arguments and $REPRISE_TRACE, $REPRISE_PROFILE, $REPRISE_LISTEN, $REPRISE_TOKEN
// and $REPRISE_REMOTE_PROFILE, which take precedence. nullopt: no trace. Throws InvalidArgument
// with the source of the invalid value and the valid values.
[[nodiscard]] std::optional<TraceOptions> trace_options(
    const TraceDesc& desc, RemoteProfile remote_profile = RemoteProfile::Sampled);

// Settings from the target text of the environment variable `variable`. Viewers may request any
// level.
[[nodiscard]] TraceOptions trace_options_of(std::string_view variable, std::string_view target);

}  // namespace reprise::detail
