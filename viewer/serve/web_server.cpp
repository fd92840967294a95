#include "serve/web_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/shown_text.hpp"
#include "serve/page.hpp"
#include "serve/protocol.hpp"
#include "serve/request_checks.hpp"

namespace reprise::viewer {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using Error = beast::error_code;

constexpr std::chrono::seconds kRequestSeconds{10}, kSilenceSeconds{60};
constexpr std::chrono::milliseconds kAcceptPause{200};  // after an error, such as no descriptors
constexpr std::uint16_t kTriedPorts = 100;
constexpr std::size_t kSpareConnections = 32;    // besides those of clients
constexpr int kMaxHandlers = 256;                // that run before run_until() returns
constexpr std::size_t kMaxLastWords = 4u << 20;  // bytes that are sent before closing
constexpr std::uint32_t kMaxHeader = 16u << 10;
constexpr std::size_t kWriteBuffer = 64u << 10;
constexpr char kNonce[] = "{{nonce}}";

using Response = http::response<http::string_body>;

Response response_of(http::status status, std::string text) {
  Response response(status, 11);
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set(http::field::cache_control, "no-store");
  response.body() = std::move(text);
  response.keep_alive(false);
  return response;
}

Response page_of(const ServeDesc& desc, std::string_view host) {
  std::string page(kPage);
  const std::string nonce = random_text();
  for (std::size_t at = 0; (at = page.find(kNonce, at)) != std::string::npos;)
    page.replace(at, sizeof kNonce - 1, nonce);
  Response response = response_of(http::status::ok, std::move(page));
  response.set(http::field::content_type, "text/html; charset=utf-8");
  response.set("Content-Security-Policy", content_policy(nonce, host, desc.hosts));
  return response;
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct WebServer::State {
  class Connection;

  void listen();
  void accept();
  // Null: it ended.
  [[nodiscard]] std::shared_ptr<Connection> find(ConnectionId id) const {
    const auto found = connections.find(id);
    return found == connections.end() ? nullptr : found->second;
  }

  const ServeDesc& desc;
  const std::function<void(const WebEvent&)> on_event;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  std::map<ConnectionId, std::shared_ptr<Connection>> connections = {};
  ConnectionId last_id = 0;
};

class WebServer::State::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, State& state, ConnectionId id)
      : state_(state), id_(id), stream_(std::move(socket)), deadline_(stream_.get_executor()) {}

  void start() {
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(0);
    end_after(kRequestSeconds);
    http::async_read(stream_.next_layer(), buffer_, *parser_,
                     [self = shared_from_this()](Error error, std::size_t) {
                       if (error) return self->end();
                       self->answer(self->parser_->get());
                     });
  }

  void send(WebServer::Message kind, std::string data) {
    if (is_closing_ || is_ended_) return;
    unsent += data.size();
    outgoing_.push_back({kind, std::move(data)});
    if (outgoing_.size() == 1) write();
  }
  void close() {
    if (std::exchange(is_closing_, true) || is_ended_) return;
    if (unsent > kMaxLastWords) return end();  // the peer does not read
    end_after(kRequestSeconds);  // whether or not the peer takes the rest
    if (outgoing_.empty()) close_socket();
  }

  std::size_t unsent = 0;  // bytes

 private:
  struct Outgoing {
    WebServer::Message kind;
    std::string data;
  };

  void answer(const http::request<http::empty_body>& request) {
    const ServeDesc& desc = state_.desc;
    const std::string_view host = view_of(request[http::field::host]),
                           origin = view_of(request[http::field::origin]),
                           target = view_of(request.target()),
                           path = target.substr(0, target.find('?'));
    if (!is_allowed_host(host, desc.hosts))
      return respond(response_of(http::status::forbidden,
                                 "Host \"" + detail::printable(host) +
                                     "\" is not allowed: start reprise serve with --allow-host "
                                     "NAME for a name of this machine or of a proxy.\n"));
    if (!origin.empty() && !is_allowed_origin(origin, desc.hosts))
      return respond(response_of(http::status::forbidden, "This Origin is not allowed.\n"));
    if (path == "/session" && websocket::is_upgrade(request)) return upgrade(request);
    if (path == "/session")
      return respond(response_of(http::status::upgrade_required, "/session is a WebSocket.\n"));
    if (path != "/") return respond(response_of(http::status::not_found, "Not found.\n"));
    if (request.method() != http::verb::get)
      return respond(response_of(http::status::method_not_allowed, "Only GET is allowed.\n"));
    respond(page_of(desc, host));
  }

  void respond(Response response) {
    response.prepare_payload();
    auto kept = std::make_shared<Response>(std::move(response));
    end_after(kRequestSeconds);
    http::async_write(stream_.next_layer(), *kept,
                      [self = shared_from_this(), kept](Error, std::size_t) {
                        Error ignored;
                        self->stream_.next_layer().shutdown(tcp::socket::shutdown_send, ignored);
                        self->end();
                      });
  }

  void upgrade(const http::request<http::empty_body>& request) {
    stream_.set_option(websocket::stream_base::timeout{kRequestSeconds, kSilenceSeconds, true});
    websocket::permessage_deflate deflate;
    deflate.server_enable = true;
    deflate.compLevel = 4;
    deflate.memLevel = 8;
    stream_.set_option(deflate);
    stream_.read_message_max(kMaxMessage);
    stream_.write_buffer_bytes(kWriteBuffer);
    buffer_.clear();
    end_after(std::chrono::seconds(state_.desc.first_message_seconds));
    stream_.async_accept(request, [self = shared_from_this()](Error error) {
      if (error) return self->end();
      self->is_open_ = true;
      Error ignored;
      self->stream_.next_layer().set_option(tcp::no_delay(true), ignored);
      self->read();
    });
  }

  void end_after(std::chrono::seconds seconds) {
    deadline_.expires_after(seconds);
    deadline_.async_wait([self = shared_from_this()](Error error) {
      if (!error) self->end();
    });
  }

  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](Error error, std::size_t size) {
      self->received(error, size);
    });
  }

  void received(Error error, std::size_t size) {
    if (error) {
      const auto code = stream_.reason().code;
      const bool left =
          error == websocket::error::closed &&
          (code == websocket::close_code::normal || code == websocket::close_code::going_away);
      return end(left ? WebEvent::Kind::Left : WebEvent::Kind::Lost);
    }
    const std::string data = beast::buffers_to_string(buffer_.data());
    buffer_.consume(size);
    if (!is_closing_) {
      deadline_.cancel();
      state_.on_event(
          {stream_.got_text() ? WebEvent::Kind::Text : WebEvent::Kind::Binary, id_, data});
    }
    if (!is_ended_) read();  // also a closing one, until the peer has closed, too
  }

  void write() {
    const Outgoing& next = outgoing_.front();
    stream_.text(next.kind == WebServer::Message::Text);
    stream_.async_write(asio::buffer(next.data),
                        [self = shared_from_this()](Error error, std::size_t) {
                          if (error) return self->end();
                          self->unsent -= self->outgoing_.front().data.size();
                          self->outgoing_.pop_front();
                          if (!self->outgoing_.empty()) return self->write();
                          if (self->is_closing_) self->close_socket();
                        });
  }

  void close_socket() {
    if (!is_open_) return end();
    stream_.async_close(websocket::close_code::normal,
                        [self = shared_from_this()](Error) { self->end(); });
  }

  void end(WebEvent::Kind how = WebEvent::Kind::Lost) {
    if (std::exchange(is_ended_, true)) return;
    deadline_.cancel();
    Error ignored;
    stream_.next_layer().close(ignored);
    state_.connections.erase(id_);
    if (is_open_ && !is_closing_) state_.on_event({how, id_, {}});
  }

  State& state_;
  const ConnectionId id_;
  websocket::stream<tcp::socket> stream_;
  asio::steady_timer deadline_;  // of the request, the first message, and closing
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::deque<Outgoing> outgoing_;
  bool is_open_ = false, is_closing_ = false, is_ended_ = false;
};

void WebServer::State::listen() {
  Error error;
  const auto found = tcp::resolver(io).resolve(desc.address, std::to_string(desc.port),
                                               tcp::resolver::passive, error);
  if (error || found.empty())
    throw std::runtime_error("cannot find the address " + desc.address + ": " + error.message());
  tcp::endpoint endpoint = found.begin()->endpoint();
  for (int left = desc.port == 0 ? 1 : kTriedPorts; !acceptor.is_open(); --left) {
    try {
      acceptor = tcp::acceptor(io, endpoint);
    } catch (const boost::system::system_error& failure) {
      if (failure.code() != asio::error::address_in_use || left <= 1)
        throw std::runtime_error("cannot listen on " + desc.address + ", port " +
                                 std::to_string(endpoint.port()) + ": " + failure.code().message());
      endpoint.port(static_cast<std::uint16_t>(endpoint.port() + 1));
    }
  }
}

void WebServer::State::accept() {
  acceptor.async_accept([this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      if (connections.size() < desc.max_clients + kSpareConnections) {
        const auto taken = std::make_shared<Connection>(std::move(socket), *this, ++last_id);
        connections.emplace(last_id, taken);
        taken->start();
      }
      return accept();
    }
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](Error stopped) {
      if (!stopped) accept();
    });
  });
}

WebServer::WebServer(const ServeDesc& desc, std::function<void(const WebEvent&)> on_event)
    : state_(new State{.desc = desc, .on_event = std::move(on_event)}) {
  state_->listen();
  state_->accept();
}

WebServer::~WebServer() = default;

std::uint16_t WebServer::port() const { return state_->acceptor.local_endpoint().port(); }

void WebServer::run_until(ServeClock::time_point due) {
  state_->io.run_one_until(due);
  for (int left = kMaxHandlers; left > 0 && state_->io.poll_one() > 0;) --left;
}

void WebServer::wake() {
  asio::post(state_->io, [] {});
}

void WebServer::send(ConnectionId connection, Message kind, std::string data) {
  if (const auto found = state_->find(connection)) found->send(kind, std::move(data));
}

void WebServer::close(ConnectionId connection) {
  if (const auto found = state_->find(connection)) found->close();
}

std::size_t WebServer::unsent(ConnectionId connection) const {
  const auto found = state_->find(connection);
  return found ? found->unsent : 0;
}

}  // namespace reprise::viewer
