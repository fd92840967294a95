// Recording from a program that runs already: finds its session, takes what it sends and writes it
// down until the session ends or the user stops it. Threads: the main thread's.
#pragma once

#include <optional>
#include <string>

#include "trace/live/live_request.hpp"
#include "trace/trace_file.hpp"

namespace reprise::cli {

struct AttachDesc {
  std::string session;  // a socket's path, host:port, or a process or an application of this user
                        // on this machine
  std::string token;    // of host:port
  trace::TraceFileDesc file;
  std::optional<trace::LiveProfile> profile;  // asked of the session; empty: nothing is
};

// The address of a session: what a LiveClient connects to. Throws std::runtime_error naming the
// sessions that there are.
[[nodiscard]] std::string find_session(const std::string& text);

// Returns when the session has ended, or after SIGINT or SIGTERM, with what came in the file; says
// on stderr what is going on. Throws std::runtime_error where nobody answers, the session refuses,
// or what comes can't be read or written.
void record_session(const AttachDesc& desc);

}  // namespace reprise::cli
