// Connection: the session's end of one live connection. It completes the handshake within a
// deadline, then sends the broadcast's chunks and receives small requests. A slow or hostile peer
// affects only its own connection. Threads: the server's thread only.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/live/broadcast.hpp"
#include "trace/live/live_request.hpp"
#include "trace/live/stream_io.hpp"

namespace reprise::trace {

// Why a connection ended. Left: the peer closed it. Garbage: a malformed message. Deadline: no
// handshake in time. Displaced: closed in favour of a newer connection. TooSlow: the viewer was
// overrun. Stopped: the server stopped.
enum class ConnectionEnd : std::uint8_t {
  Left,
  Garbage,
  WrongToken,
  Deadline,
  Displaced,
  TooSlow,
  Stopped
};

// State that all connections of a server share. Outlives them.
struct ConnectionContext {
  Broadcast& broadcast;
  SessionLine line;
  std::string token;  // required from viewers on TCP
  std::chrono::milliseconds handshake_deadline;
  std::optional<LiveProfile> remote_profile;
  std::function<void(const LiveRequest&)> on_request;  // called with requests within remote_profile
  std::function<void()> on_alone;                      // the last viewer disconnected; may be empty
  std::function<void()> on_welcome, on_refused_request;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // The mode of the socket file protects the path; a viewer on TCP must present the token.
  enum class Door : std::uint8_t { Path, Tcp };
  using OnEnd = std::function<void(const std::shared_ptr<Connection>&, ConnectionEnd)>;

  // `on_end` is called exactly once, at the latest within end().
  Connection(StreamSocket socket, Door door, const ConnectionContext& context, OnEnd on_end);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Starts sending if a chunk is queued and no send is in progress. Disconnects an overrun viewer.
  void send();
  void end(ConnectionEnd why);
  [[nodiscard]] Door door() const noexcept { return door_; }
  // Whether the peer has completed its part of the handshake; on TCP, with the token.
  [[nodiscard]] bool is_viewer() const noexcept { return viewer_ != nullptr; }

 private:
  void read(asio::mutable_buffer into, std::function<void()> then);
  void read_body(std::size_t bytes, std::function<void()> then);  // reads into body_
  void check_token();
  void answer(LiveAnswer answer);
  void read_request();
  void take_request();

  StreamSocket socket_;
  SteadyTimer deadline_;
  const Door door_;
  const ConnectionContext& context_;
  OnEnd on_end_;
  bool ended_ = false, greeted_ = false, sending_ = false;
  std::array<std::uint8_t, kGreetingHeadBytes> hello_{};
  std::array<std::uint8_t, kRequestHeadBytes> request_{};
  std::vector<std::uint8_t> body_, answer_;
  std::shared_ptr<Broadcast::Viewer> viewer_;
  std::shared_ptr<const Chunk> chunk_;  // being sent
  std::array<std::uint8_t, ChunkHeader::kBytes> header_{};
};

}  // namespace reprise::trace
