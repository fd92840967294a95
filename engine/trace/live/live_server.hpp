// LiveServer: gives a trace to everybody who comes to look at it while it is made. A socket file
// that only this user may open, and TCP where it is asked for, with a token. Each viewer first gets
// all the topology so far and then every new chunk, the same bytes as in a file. A viewer that is
// slow loses chunks and is told how many; one that is dead or hostile costs nobody anything.
// Threads: it has one of its own; every call may come from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "trace/chunk_sink.hpp"
#include "trace/live/live_request.hpp"

namespace reprise::trace {

struct LiveServerDesc {
  std::string application;
  std::string listen =
      {};  // "host:port" for TCP, port 0: any; without a host, this machine alone; empty: no TCP
  std::string token = {};  // what a viewer has to know who comes over TCP; up to kMaxTokenBytes
  std::optional<LiveProfile> remote_profile =
      {};  // the most that a viewer may ask for; empty: nothing
  std::function<void(const LiveRequest&)> on_request =
      {};  // what it asks for, within remote_profile; on the server's thread
  std::function<void()> on_alone = {};   // the last viewer has left; on the server's thread
  std::size_t viewer_bytes = 64u << 20;  // of chunks that wait for one viewer
  std::size_t max_connections = 64;
  std::chrono::milliseconds handshake_deadline{10'000};
  std::chrono::milliseconds linger{2'000};  // flush() waits so long for viewers that still read
};

struct LiveServerStats {
  std::size_t connections = 0, viewers = 0;  // now
  std::uint64_t welcomed = 0, left = 0;      // left: of their own accord, greeted or not
  std::uint64_t wrong_tokens = 0, garbage = 0, late = 0, too_many = 0, refused_requests = 0;
  std::uint64_t dropped_chunks = 0;  // summed over viewers
};

class LiveLoop;
class Broadcast;

class LiveServer : public ChunkSink {
 public:
  // Listens when it returns. Throws TraceError: Io (no place for the socket, the address is taken),
  // NotAllowed (TCP without a token).
  explicit LiveServer(LiveServerDesc desc);
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;
  ~LiveServer() override;  // leaves the viewers and removes the socket file

  void write(const std::shared_ptr<const Chunk>& chunk) override;
  void flush() override;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }  // of TCP; 0: none
  [[nodiscard]] LiveServerStats stats() const;
  [[nodiscard]] std::thread::native_handle_type
  thread() noexcept;  // its own, as long as this lives

 private:
  const std::chrono::milliseconds linger_;
  const int process_;  // after a fork, the file is still the parent's
  std::filesystem::path path_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Broadcast> broadcast_;
  std::unique_ptr<LiveLoop> loop_;
};

}  // namespace reprise::trace
