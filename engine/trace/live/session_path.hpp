// Locations of the sockets of live sessions: $XDG_RUNTIME_DIR/reprise, or /tmp/reprise-<uid> if the
// variable is unset or its folder is not private. A folder that another user owns or may enter is
// never used. Threads: not concurrently with setenv.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// The folder for new sessions; created with mode 0700 if it does not exist. Throws TraceError (Io)
// with the folder and the violation.
[[nodiscard]] std::filesystem::path make_session_folder();
// The existing and private folders that can contain this user's sessions.
[[nodiscard]] std::vector<std::filesystem::path> session_folders();

struct SessionName {
  std::uint32_t pid = 0;
  std::string application;
  std::uint32_t rank = kNone;  // of a distributed job
  std::uint32_t job = 0;       // the same on all ranks of a job: job_number()
};
// A hash of Session::job.
[[nodiscard]] std::uint32_t job_number(std::string_view job) noexcept;

// "<pid>-<application>.sock", or "<pid>-<application>.rank3-1a2b3c4d.sock", restricted to
// characters that need no quoting. `number`: distinguishes the sessions of one process, from 1.
[[nodiscard]] std::string session_file_name(const SessionName& name, unsigned number);
[[nodiscard]] std::optional<SessionName> parse_session_file_name(std::string_view name);

}  // namespace reprise::trace
