// Lists the live sessions of this user on this machine by their sockets. Threads: any. Listing
// connects to each socket and disconnects immediately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

struct LiveSession {
  std::filesystem::path path;  // of its socket; the address for a LiveClient
  std::uint32_t pid = 0;
  std::string application;
  std::uint32_t rank = kNone, job = 0;  // see SessionName
  bool alive = false;  // a process listens; false: the process ended without removing the socket
};

// Sorted by pid, then by path.
[[nodiscard]] std::vector<LiveSession> list_sessions();
// Removes the sockets of processes that have ended; returns their number.
std::size_t remove_stale_sessions();
// True if a process listens at this socket. Never waits.
[[nodiscard]] bool session_answers(const std::filesystem::path& path);

}  // namespace reprise::trace
