#include "trace/live/connection.hpp"

#include <string_view>
#include <utility>

#include "trace/live/stream_io.hpp"

namespace reprise::trace {

Connection::Connection(StreamSocket socket, Door door, const ConnectionContext& context,
                       OnEnd on_end)
    : socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      door_(door),
      context_(context),
      on_end_(std::move(on_end)) {}

void Connection::read(asio::mutable_buffer into, std::function<void()> then) {
  async_read_all(
      socket_, into,
      [self = shared_from_this(), then = std::move(then)](const asio::error_code& error) {
        if (self->ended_) return;
        error ? self->end(ConnectionEnd::Left) : then();
      });
}

void Connection::read_body(std::size_t bytes, std::function<void()> then) {
  body_.resize(bytes);
  read(asio::buffer(body_), std::move(then));
}

void Connection::start() {
  deadline_.expires_after(context_.handshake_deadline);
  deadline_.async_wait([self = shared_from_this()](asio::error_code error) {
    if (!error && !self->greeted_) self->end(ConnectionEnd::Deadline);
  });
  read(asio::buffer(hello_), [this] {
    const auto token_bytes = decode_hello(hello_);
    if (!token_bytes) return end(ConnectionEnd::Garbage);
    read_body(*token_bytes, [this] { check_token(); });
  });
}

void Connection::check_token() {
  const std::string_view given(reinterpret_cast<const char*>(body_.data()), body_.size());
  // The token is never empty on TCP; the comparison guards against an empty one.
  const bool welcome =
      door_ == Door::Path || (!context_.token.empty() && same_token(context_.token, given));
  answer(welcome ? LiveAnswer::Welcome : LiveAnswer::WrongToken);
}

void Connection::answer(LiveAnswer answer) {
  const bool welcome = answer == LiveAnswer::Welcome;
  // A rejected viewer receives no information about the session.
  answer_ = encode_answer(answer, welcome ? context_.remote_profile : std::nullopt,
                          welcome ? context_.line : SessionLine{});
  if (welcome) {
    const auto preamble = encode_preamble();
    answer_.insert(answer_.end(), preamble.begin(), preamble.end());
    viewer_ = context_.broadcast.attach();
  }
  const asio::const_buffer bytes[] = {asio::buffer(answer_)};
  async_write_all(socket_, bytes,
                  [self = shared_from_this(), welcome](const asio::error_code& error) {
                    if (self->ended_) return;
                    if (!welcome) return self->end(ConnectionEnd::WrongToken);
                    if (error) return self->end(ConnectionEnd::Left);
                    self->greeted_ = true;
                    self->deadline_.cancel();
                    self->context_.on_welcome();
                    self->read_request();
                    self->send();
                  });
}

void Connection::send() {
  if (ended_ || !greeted_) return;
  if (context_.broadcast.is_overrun(*viewer_)) return end(ConnectionEnd::TooSlow);
  if (sending_) return;
  chunk_ = context_.broadcast.next(*viewer_);
  if (!chunk_) return;
  sending_ = true;
  header_ = encode_header(chunk_->header);
  const asio::const_buffer bytes[] = {asio::buffer(header_), asio::buffer(chunk_->payload)};
  async_write_all(socket_, bytes, [self = shared_from_this()](const asio::error_code& error) {
    self->sending_ = false;
    if (self->ended_) return;
    if (error) return self->end(ConnectionEnd::Left);
    self->send();
  });
}

void Connection::read_request() {
  read(asio::buffer(request_), [this] {
    const auto bytes = decode_request_head(request_);
    if (!bytes) return end(ConnectionEnd::Garbage);
    read_body(*bytes, [this] { take_request(); });
  });
}

void Connection::take_request() {
  const auto request = decode_request(body_);
  read_request();  // before the handler, which may throw
  if (!request) return;
  if (const auto allowed = capped(*request, context_.remote_profile)) {
    if (context_.on_request) context_.on_request(*allowed);
  } else {
    context_.on_refused_request();
  }
}

void Connection::end(ConnectionEnd why) {
  if (std::exchange(ended_, true)) return;
  asio::error_code ignored;
  deadline_.cancel();
  socket_.shutdown(asio::socket_base::shutdown_both, ignored);
  socket_.close(ignored);
  const bool alone = viewer_ && context_.broadcast.detach(viewer_) == 0;
  on_end_(shared_from_this(), why);
  if (alone && why != ConnectionEnd::Stopped && context_.on_alone)
    context_.on_alone();  // last statement, because it may throw
}

}  // namespace reprise::trace
