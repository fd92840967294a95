// Where live sessions have their sockets: $XDG_RUNTIME_DIR/reprise, or /tmp/reprise-<uid> where
// that is unset or not this user's own. A folder that belongs to somebody else, or that others may
// enter, is never used. Threads: as getenv; pure otherwise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::trace {

// The folder for a new session; made if it is not there (mode 0700). Throws TraceError (Io) naming
// it and what is wrong with it.
[[nodiscard]] std::filesystem::path make_session_folder();
// The folders that sessions of this user may be in; only such that exist and are safe.
[[nodiscard]] std::vector<std::filesystem::path> session_folders();

struct SessionName {
  std::uint32_t pid = 0;
  std::string application;
};

// "<pid>-<application>.sock", in letters that need no quoting. `number`: of several sessions of one
// process, from 1.
[[nodiscard]] std::string session_file_name(std::uint32_t pid, std::string_view application,
                                            unsigned number);
[[nodiscard]] std::optional<SessionName> parse_session_file_name(std::string_view name);

}  // namespace reprise::trace
