// ControlPeer: one connection of the control channel. It sends frames in order and receives frames
// up to a limit. Threads: that of the socket's io_context only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/asio.hpp"
#include "collectives/control/control_frame.hpp"
#include "collectives/control/control_handshake.hpp"

namespace reprise::detail {

// Closes a socket in forked children: a child that outlives its parent would keep the connection
// open. Threads: any.
class ClosedInFork {
 public:
  explicit ClosedInFork(int socket);
  ClosedInFork(const ClosedInFork&) = delete;
  ClosedInFork& operator=(const ClosedInFork&) = delete;
  ~ClosedInFork();

 private:
  int socket_;
};

// A TCP socket that child processes do not inherit on exec(). Returns -1 and sets errno on errors.
[[nodiscard]] int open_tcp_socket(int family) noexcept;

class ControlPeer : public std::enable_shared_from_this<ControlPeer> {
 public:
  using OnFrame = std::function<void(ControlPeer&, FrameType, std::string_view body)>;
  using OnEnd = std::function<void(ControlPeer&)>;

  ControlPeer(StreamSocket socket, std::uint32_t max_frame_bytes);
  ControlPeer(const ControlPeer&) = delete;
  ControlPeer& operator=(const ControlPeer&) = delete;

  // Starts receiving. `on_frame` may throw MalformedFrame, which ends the connection, as an
  // oversized frame does. `on_end` is called when the connection ends, but not by close().
  void start(OnFrame on_frame, OnEnd on_end);
  // Replaces both after start(). Not in one of them.
  void change_owner(OnFrame on_frame, OnEnd on_end);
  void set_max_frame_bytes(std::uint32_t bytes) noexcept { max_frame_bytes_ = bytes; }
  // Ends the connection if more than kMaxUnsentBytes wait, because the other end does not read.
  void send(Frame frame);
  static constexpr std::size_t kMaxUnsentBytes = 128U << 20;
  // The other end sees the end of the stream after all frames. Receiving continues.
  void finish();
  void close();
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }

  std::uint32_t rank = 0;       // 0 before authentication
  const char* fault = nullptr;  // of the frame that ended the connection; see MalformedFrame
  std::optional<HubHandshake> handshake;  // with rank 0
  std::uint64_t sent_version = 0;         // of the table of ranks
  const std::chrono::steady_clock::time_point created = std::chrono::steady_clock::now();

 private:
  void read_header();
  void read_body();
  void write();
  void end();

  StreamSocket socket_;
  std::unique_ptr<ClosedInFork> closed_in_fork_;
  std::uint32_t max_frame_bytes_;
  OnFrame on_frame_;
  OnEnd on_end_;
  bool is_closed_ = false, is_finishing_ = false;
  FrameHeader header_{};
  std::string body_;
  std::deque<Frame> unsent_;  // the first one is being sent
  std::size_t unsent_bytes_ = 0;
};

}  // namespace reprise::detail
