// Connection: one end of one live connection, the session's: greets within a deadline, then sends what the broadcast has and takes small
// requests. Nothing that the other side does or fails to do holds up anything else. Threads: the server's alone.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/live/asio.hpp"
#include "trace/live/broadcast.hpp"
#include "trace/live/live_request.hpp"

namespace reprise::trace {

// Why a connection ended.
enum class ConnectionEnd : std::uint8_t { Left, Garbage, WrongToken, Deadline, Stopped };

// What all connections of a server share.
struct ConnectionContext {
  Broadcast& broadcast;
  SessionLine line;
  std::string token;  // of TCP
  std::chrono::milliseconds handshake_deadline;
  std::optional<LiveProfile> remote_profile;
  std::function<void(const LiveRequest&)> on_request;   // what is allowed
  std::function<void()> on_alone;                       // the last viewer has left; may be empty
  std::function<void()> on_welcome, on_refused_request;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // A socket file has its mode to protect it; whoever comes over TCP needs the token.
  enum class Door : std::uint8_t { Path, Tcp };
  using OnEnd = std::function<void(const std::shared_ptr<Connection>&, ConnectionEnd)>;

  // `on_end` is called once, at the latest from end().
  Connection(StreamSocket socket, Door door, const ConnectionContext& context, OnEnd on_end);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void send();  // goes on sending if there is something and nothing is on its way
  void end(ConnectionEnd why);

 private:
  void read(asio::mutable_buffer into, std::function<void()> then);
  void read_body(std::size_t bytes, std::function<void()> then);  // into body_
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
  std::shared_ptr<const Chunk> chunk_;  // on its way
  std::array<std::uint8_t, ChunkHeader::kBytes> header_{};
};

}  // namespace reprise::trace
