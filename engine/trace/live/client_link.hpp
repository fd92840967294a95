// LiveClient::Link: the socket of a live client and its protocol state machine. Threads: the one
// that runs context(); request() and status() may be called from any thread.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "trace/live/live_client.hpp"
#include "trace/live/stream_io.hpp"

namespace reprise::trace {

class LiveClient::Link {
 public:
  explicit Link(LiveClientDesc desc);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Both process what arrives: run() until the connection ends or stop() is called, poll() what is
  // there already.
  void run() noexcept;
  void poll() noexcept;
  void stop() { io_.stop(); }
  [[nodiscard]] std::size_t chunks() const noexcept { return chunks_; }
  void request(const LiveRequest& request);
  [[nodiscard]] LiveStatus status() const;

 private:
  void connect();
  void connect_to_next();
  void greet();
  void read_answer();
  void read_session();
  void read_chunk_header();
  void read_payload();
  void take_chunk();
  void send_requests();
  // Calls `then` after `bytes` has been filled; ends the connection on an error.
  void read(asio::mutable_buffer bytes, std::function<void()> then);
  void end(LiveState state, std::string_view reason) noexcept;

  const LiveClientDesc desc_;
  asio::io_context io_{1};
  TcpResolver resolver_{io_};
  StreamSocket socket_{io_};
  std::deque<asio::generic::stream_protocol::endpoint> endpoints_;  // not tried yet
  std::vector<std::uint8_t> hello_, text_;
  std::array<std::uint8_t, kGreetingHeadBytes> answer_{};
  std::array<std::uint8_t, ChunkHeader::kBytes> header_{};
  std::shared_ptr<Chunk> chunk_;
  std::size_t chunks_ = 0;
  std::deque<std::vector<std::uint8_t>>
      requests_;  // the first one is being sent while sending_ is true
  bool sending_ = false;
  mutable std::mutex status_mutex_;
  LiveStatus status_;
};

}  // namespace reprise::trace
