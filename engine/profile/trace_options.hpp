// TraceOptions: what an application, or the environment, asks of the trace, checked. Knows no file,
// no socket and no thread. Threads: pure functions of their arguments and the environment.
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
  std::string listen, token;                         // of TCP; empty: none
  std::optional<trace::LiveProfile> remote_profile;  // empty: viewers may ask for nothing
  friend bool operator==(const LiveOptions&, const LiveOptions&) = default;
};

struct TraceOptions {
  trace::TraceFileDesc file;        // its path absolute; an empty one: no file
  std::optional<LiveOptions> live;  // empty: nobody looks while it runs
  ProfileMode profile = ProfileMode::Every;
};

// nullopt: no trace is wanted. $REPRISE_TRACE, $REPRISE_PROFILE, $REPRISE_LISTEN, $REPRISE_TOKEN
// and $REPRISE_REMOTE_PROFILE win over the arguments. Throws InvalidArgument naming where the wrong
// value stands and what it may be.
[[nodiscard]] std::optional<TraceOptions> trace_options(
    const TraceDesc& desc, RemoteProfile remote_profile = RemoteProfile::Sampled);

// The same of one text of that form, which stands in the variable that is named; whatever viewers
// ask for they get.
[[nodiscard]] TraceOptions trace_options_of(std::string_view variable, std::string_view target);

}  // namespace reprise::detail
