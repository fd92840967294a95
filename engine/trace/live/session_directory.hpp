// The live sessions of this user on this machine, as their sockets tell. Threads: any; looking
// connects to each socket and leaves at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace reprise::trace {

struct LiveSession {
  std::filesystem::path path;  // of its socket: what a LiveClient connects to
  std::uint32_t pid = 0;
  std::string application;
  bool alive = false;  // somebody listens; false: its process ended without removing it
};

// By pid, then by path.
[[nodiscard]] std::vector<LiveSession> list_sessions();
// Removes the sockets that dead processes left; returns how many.
std::size_t remove_stale_sessions();
// Somebody listens at this socket. Never waits.
[[nodiscard]] bool session_answers(const std::filesystem::path& path);

}  // namespace reprise::trace
