// TraceOptions: what an application, or the environment, asks of the trace, checked. Knows no file and no thread.
// Threads: pure functions of their arguments and the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <reprise/trace.hpp>

#include "trace/trace_file.hpp"

namespace reprise::detail {

struct TraceOptions {
  trace::TraceFileDesc file;  // its path absolute
  ProfileMode profile = ProfileMode::Every;
};

// nullopt: no trace is wanted. $REPRISE_TRACE and $REPRISE_PROFILE win over `desc`. Throws InvalidArgument naming where the wrong
// value stands and what it may be, Unsupported for a live trace.
[[nodiscard]] std::optional<TraceOptions> trace_options(const TraceDesc& desc);

}  // namespace reprise::detail
