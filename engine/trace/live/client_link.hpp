// LiveClient::Link: the socket of a live client and where it is in the conversation. Threads: the one that runs context(); request() and
// status() from any.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "trace/live/asio.hpp"
#include "trace/live/live_client.hpp"

namespace reprise::trace {

class LiveClient::Link {
 public:
  explicit Link(LiveClientDesc desc);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] asio::io_context& context() noexcept { return io_; }
  [[nodiscard]] std::size_t chunks() const noexcept { return chunks_; }
  void request(const LiveRequest& request);
  [[nodiscard]] LiveStatus status() const;

 private:
  void connect();
  void connect_to(const asio::generic::stream_protocol::endpoint& endpoint);
  void greet();
  void read_answer();
  void read_session();
  void read_chunk_header();
  void read_payload();
  void take_chunk();
  void send_requests();
  // Goes on with `then` when `bytes` are full.
  void read(asio::mutable_buffer bytes, std::function<void()> then);
  void end(LiveState state, const std::string& reason);

  const LiveClientDesc desc_;
  asio::io_context io_{1};
  TcpResolver resolver_{io_};
  StreamSocket socket_{io_};
  std::vector<std::uint8_t> hello_, text_;
  std::array<std::uint8_t, kGreetingHeadBytes> answer_{};
  std::array<std::uint8_t, ChunkHeader::kBytes> header_{};
  std::shared_ptr<Chunk> chunk_;
  std::size_t chunks_ = 0;
  std::deque<std::vector<std::uint8_t>> requests_;  // the first is on its way
  bool sending_ = false;
  mutable std::mutex status_mutex_;
  LiveStatus status_;
};

}  // namespace reprise::trace
