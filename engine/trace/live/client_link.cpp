#include "trace/live/client_link.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "trace/live/stream_io.hpp"
#include "trace/live/tcp_address.hpp"

namespace reprise::trace {

namespace {

// Payloads are read in steps, so memory grows with the bytes received and not with the size in a
// header.
constexpr std::size_t kReadBytes = 1u << 20;

}  // namespace

LiveClient::Link::Link(LiveClientDesc desc) : desc_(std::move(desc)) {
  asio::post(io_, [this] { connect(); });
}

void LiveClient::Link::run() noexcept {
  try {
    io_.run();
  } catch (const std::exception& error) {
    end(LiveState::Corrupt, error.what());
  }
}

void LiveClient::Link::poll() noexcept {
  io_.restart();  // poll() stops the context when it runs out of work
  try {
    io_.poll();
  } catch (const std::exception& error) {
    end(LiveState::Corrupt, error.what());
  }
}

void LiveClient::Link::connect() {
  if (desc_.token.size() > kMaxTokenBytes) {
    return end(LiveState::Refused, "the token of " + std::to_string(desc_.token.size()) +
                                       " bytes exceeds the limit of " +
                                       std::to_string(kMaxTokenBytes) + " bytes");
  }
  if (desc_.address.find('/') != std::string::npos) {
    try {
      endpoints_.emplace_back(asio::local::stream_protocol::endpoint(desc_.address));
      return connect_to_next();
    } catch (const std::system_error& error) {
      return end(LiveState::Unreachable, error.code().message());
    }
  }
  const auto address = parse_tcp_address(desc_.address);
  if (!address)
    return end(LiveState::Unreachable, "the address is neither a socket path nor host:port");
  resolver_.async_resolve(address->host, address->port,
                          [this](asio::error_code error, const TcpResolver::results_type& found) {
                            if (error) return end(LiveState::Unreachable, error.message());
                            for (const auto& one : found) endpoints_.emplace_back(one.endpoint());
                            connect_to_next();
                          });
}

// A name may have several addresses, of which the session listens on one.
void LiveClient::Link::connect_to_next() {
  const auto endpoint = endpoints_.front();
  endpoints_.pop_front();
  socket_.async_connect(endpoint, [this](asio::error_code error) {
    if (!error) return greet();
    if (endpoints_.empty()) return end(LiveState::Unreachable, error.message());
    asio::error_code ignored;
    socket_.close(ignored);
    connect_to_next();
  });
}

void LiveClient::Link::greet() {
  hello_ = encode_hello(desc_.token);
  const asio::const_buffer bytes[] = {asio::buffer(hello_)};
  async_write_all(socket_, bytes, [this](const asio::error_code& error) {
    error ? end(LiveState::Refused, "the session closed the connection") : read_answer();
  });
}

void LiveClient::Link::read(asio::mutable_buffer bytes, std::function<void()> then) {
  async_read_all(socket_, bytes, [this, then = std::move(then)](const asio::error_code& error) {
    if (!error) return then();
    const bool live = status().state == LiveState::Live;
    end(live ? LiveState::Closed : LiveState::Refused,
        live ? "the session ended" : "the session closed the connection");
  });
}

void LiveClient::Link::read_answer() {
  read(asio::buffer(answer_), [this] {
    const auto head = decode_answer(answer_);
    if (!head) return end(LiveState::Corrupt, "the peer is not a Reprise session");
    if (head->answer == LiveAnswer::WrongToken)
      return end(LiveState::Refused, "the session rejected the token; pass its REPRISE_TOKEN");
    {
      const std::lock_guard lock(status_mutex_);
      status_.allowed = head->allowed;
    }
    text_.resize(head->line_bytes + kPreambleBytes);
    read(asio::buffer(text_), [this] { read_session(); });
  });
}

void LiveClient::Link::read_session() {
  const std::size_t line = text_.size() - kPreambleBytes;
  check_preamble(std::span(text_).subspan(line).first<kPreambleBytes>());
  {
    const std::lock_guard lock(status_mutex_);
    status_.session =
        decode_session_line(std::string_view(reinterpret_cast<const char*>(text_.data()), line));
    status_.state = LiveState::Live;
  }
  send_requests();
  read_chunk_header();
}

void LiveClient::Link::read_chunk_header() {
  read(asio::buffer(header_), [this] {
    chunk_ = std::make_shared<Chunk>();
    chunk_->header = decode_header(header_);
    read_payload();
  });
}

void LiveClient::Link::read_payload() {
  std::vector<std::uint8_t>& payload = chunk_->payload;
  const std::size_t have = payload.size();
  const std::size_t step =
      std::min<std::size_t>(chunk_->header.compressed_bytes - have, kReadBytes);
  if (step == 0) return take_chunk();
  payload.resize(have + step);
  read(asio::buffer(payload.data() + have, step), [this] { read_payload(); });
}

void LiveClient::Link::take_chunk() {
  ++chunks_;
  if (desc_.on_chunk) desc_.on_chunk(std::move(chunk_));
  read_chunk_header();
}

void LiveClient::Link::request(const LiveRequest& request) {
  asio::post(io_, [this, bytes = encode_request(request)] {
    requests_.push_back(bytes);
    send_requests();
  });
}

void LiveClient::Link::send_requests() {
  if (sending_ || requests_.empty() || status().state != LiveState::Live) return;
  sending_ = true;
  const asio::const_buffer bytes[] = {asio::buffer(requests_.front())};
  async_write_all(socket_, bytes, [this](const asio::error_code& error) {
    sending_ = false;
    requests_.pop_front();
    if (!error) send_requests();  // the pending read reports the error
  });
}

LiveStatus LiveClient::Link::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

void LiveClient::Link::end(LiveState state, std::string_view reason) noexcept {
  asio::error_code ignored;
  socket_.close(ignored);
  {
    const std::lock_guard lock(status_mutex_);
    if (status_.state != LiveState::Connecting && status_.state != LiveState::Live) return;
    status_.state = state;
    try {
      status_.reason = detail::concat(desc_.address, ": ", reason);
    } catch (const std::bad_alloc&) {
      // Without memory, the state alone reports that the connection has ended.
    }
  }
  if (desc_.on_end) desc_.on_end();
}

}  // namespace reprise::trace
