// LiveServer: streams a trace to viewers while it is recorded. It listens on a socket file that
// only this user may open and, on request, on TCP with a token. Each viewer receives the latest
// state of the topology and then every new chunk, with the same bytes as in a file. A slow viewer
// loses chunks and receives their number as Loss records, and one that stopped reading is
// disconnected in the end; it never delays the session or other viewers. Threads: runs one thread;
// every member may be called from any thread.
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
  std::uint32_t rank = kNone;  // of a distributed job
  std::string job = {};        // Session::job
  // TCP address "host:port"; port 0: any; no host: loopback only; empty: no TCP.
  std::string listen = {};
  std::string token = {};  // required from viewers on TCP; at most kMaxTokenBytes
  // Highest level that a viewer may request; empty: none.
  std::optional<LiveProfile> remote_profile = {};
  // Requests within remote_profile; called on the server's thread.
  std::function<void(const LiveRequest&)> on_request = {};
  // The last viewer disconnected; called on the server's thread.
  std::function<void()> on_alone = {};
  // Limit of queued event and sample chunks per viewer. A viewer whose queue holds that much more
  // topology than a new viewer would receive is disconnected.
  std::size_t viewer_bytes = 64u << 20;
  std::size_t max_connections = 64;  // on the socket file, and on TCP
  std::chrono::milliseconds handshake_deadline{10'000};
  // Time that flush() waits for viewers to receive queued chunks.
  std::chrono::milliseconds linger{2'000};
};

struct LiveServerStats {
  std::size_t connections = 0, viewers = 0;  // current
  std::uint64_t welcomed = 0,
                left = 0;  // left: closed by the viewer, before or after the handshake
  std::uint64_t wrong_tokens = 0, garbage = 0, late = 0, refused_requests = 0;
  std::uint64_t too_many = 0;        // closed because of max_connections or a lack of descriptors
  std::uint64_t too_slow = 0;        // disconnected because they stopped reading
  std::uint64_t dropped_chunks = 0;  // total of all viewers
};

class LiveLoop;
class Broadcast;

class LiveServer : public ChunkSink {
 public:
  // Listens when it returns. Throws TraceError: Io (the socket cannot be created, the address is in
  // use), NotAllowed (TCP without a token, a token that is too long).
  explicit LiveServer(LiveServerDesc desc);
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;
  ~LiveServer() override;  // disconnects the viewers and removes the socket file

  void write(const std::shared_ptr<const Chunk>& chunk) override;
  void flush() override;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }  // of TCP; 0: none
  [[nodiscard]] LiveServerStats stats() const;
  [[nodiscard]] std::thread::native_handle_type thread() noexcept;  // valid while the server exists

 private:
  const std::chrono::milliseconds linger_;
  const int process_;  // only this process removes the socket file, not a forked child
  std::filesystem::path path_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Broadcast> broadcast_;
  std::unique_ptr<LiveLoop> loop_;
};

}  // namespace reprise::trace
