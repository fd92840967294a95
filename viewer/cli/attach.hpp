// Records a running program: finds its session and writes the received records to a trace file
// until the session ends or the user stops it. Threads: main thread.
#pragma once

#include <optional>
#include <string>

#include "trace/live/live_request.hpp"
#include "trace/trace_file.hpp"

namespace reprise::cli {

struct AttachDesc {
  // a socket path, host:port, or the process id or application name of a session of this user on
  // this machine
  std::string session;
  std::string token;  // of host:port
  trace::TraceFileDesc file;
  // profiling mode to request from the session; empty: no request
  std::optional<trace::LiveProfile> profile;
};

// The address of a session, as LiveClient accepts it. Throws std::runtime_error that lists the
// available sessions.
[[nodiscard]] std::string find_session(const std::string& text);

// Blocks until the session ends or SIGINT or SIGTERM arrives; the file then has everything
// received. Reports progress on stderr. Throws std::runtime_error if nothing answers, the session
// refuses, or a read or write fails.
void record_session(const AttachDesc& desc);

}  // namespace reprise::cli
