#include "serve/web_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/shown_text.hpp"
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
constexpr std::size_t kMaxUntaken = 2u << 20;  // bytes of a connection that wait for the owner
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

Response page_of(const WebServerDesc& desc, std::string_view host) {
  std::string page(desc.page);
  const std::string nonce = random_text();
  for (std::size_t at = 0; (at = page.find(kNonce, at)) != std::string::npos;)
    page.replace(at, sizeof kNonce - 1, nonce);
  Response response = response_of(http::status::ok, std::move(page));
  response.set(http::field::content_type, "text/html; charset=utf-8");
  response.set("Content-Security-Policy", content_policy(nonce, host, desc.hosts));
  return response;
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

class Connection;

// What connections need of the loop.
struct Hub {
  WebServerDesc desc;
  std::function<void()> wake;
  mutable std::mutex mutex;  // guards `events` and `connections`
  std::vector<WebEvent> events;
  std::map<ConnectionId, std::shared_ptr<Connection>> connections;

  void report(WebEvent event) {
    {
      const std::lock_guard lock(mutex);
      events.push_back(std::move(event));
    }
    wake();
  }
};

// Runs on the loop's thread, except for the atomic members.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Hub& hub, ConnectionId id)
      : hub_(hub), id_(id), stream_(std::move(socket)), deadline_(stream_.get_executor()) {}

  void start() {
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(0);
    beast::get_lowest_layer(stream_).expires_after(kRequestSeconds);
    http::async_read(stream_.next_layer(), buffer_, *parser_,
                     [self = shared_from_this()](Error error, std::size_t) {
                       if (error) return self->end();
                       self->answer(self->parser_->get());
                     });
  }

  void send(WebServer::Message kind, std::string data) {
    if (is_closing_ || is_ended_) return;
    outgoing_.push_back({kind, std::move(data)});
    if (outgoing_.size() == 1) write();
  }
  void close() {
    if (std::exchange(is_closing_, true) || is_ended_) return;
    is_reported_ = true;
    if (unsent > kMaxLastWords) return end();  // the peer does not read
    end_after(kRequestSeconds);  // whether or not the peer takes the rest
    if (outgoing_.empty()) close_socket();
  }
  void abort() {
    is_reported_ = true;
    end();
  }
  void read_on() {
    if (is_paused_ && untaken <= kMaxUntaken) {
      is_paused_ = false;
      read();
    }
  }

  std::atomic<std::size_t> unsent{0}, untaken{0};  // bytes

 private:
  struct Outgoing {
    WebServer::Message kind;
    std::string data;
  };

  void answer(const http::request<http::empty_body>& request) {
    const WebServerDesc& desc = hub_.desc;
    const std::string_view host = view_of(request[http::field::host]),
                           target = view_of(request.target());
    const bool has_origin = request.find(http::field::origin) != request.end();
    const std::string_view path = target.substr(0, target.find('?'));
    if (!is_allowed_host(host, desc.hosts))
      return respond(response_of(http::status::forbidden,
                                 "Host \"" + detail::printable(host) +
                                     "\" is not allowed: start reprise serve with --allow-host "
                                     "NAME for a name of this machine or of a proxy.\n"));
    if (has_origin && !is_allowed_origin(view_of(request[http::field::origin]), desc.hosts))
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
    beast::get_lowest_layer(stream_).expires_after(kRequestSeconds);
    http::async_write(stream_.next_layer(), *kept,
                      [self = shared_from_this(), kept](Error, std::size_t) {
                        Error ignored;
                        beast::get_lowest_layer(self->stream_)
                            .socket()
                            .shutdown(tcp::socket::shutdown_send, ignored);
                        self->end();
                      });
  }

  void upgrade(const http::request<http::empty_body>& request) {
    beast::get_lowest_layer(stream_).expires_never();  // the WebSocket has its own deadlines
    stream_.set_option(websocket::stream_base::timeout{kRequestSeconds, kSilenceSeconds, true});
    websocket::permessage_deflate deflate;
    deflate.server_enable = true;
    deflate.compLevel = 4;
    deflate.memLevel = 8;
    stream_.set_option(deflate);
    stream_.read_message_max(hub_.desc.max_message);
    stream_.write_buffer_bytes(kWriteBuffer);
    buffer_.clear();
    end_after(std::chrono::seconds(hub_.desc.first_message_seconds));
    stream_.async_accept(request, [self = shared_from_this()](Error error) {
      if (error) return self->end();
      self->is_open_ = true;
      Error ignored;
      beast::get_lowest_layer(self->stream_).socket().set_option(tcp::no_delay(true), ignored);
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
    if (is_closing_) {  // until the peer has closed, too
      buffer_.consume(size);
      return read();
    }
    deadline_.cancel();
    untaken += size;
    hub_.report({stream_.got_text() ? WebEvent::Kind::Text : WebEvent::Kind::Binary, id_,
                 beast::buffers_to_string(buffer_.data())});
    buffer_.consume(size);
    is_paused_ = untaken > kMaxUntaken;
    if (!is_paused_) read();
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
                          if (self->is_closing_) return self->close_socket();
                          self->hub_.wake();
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
    beast::get_lowest_layer(stream_).socket().close(ignored);
    {
      const std::lock_guard lock(hub_.mutex);
      hub_.connections.erase(id_);
    }
    if (is_open_ && !is_reported_) hub_.report({how, id_, {}});
  }

  Hub& hub_;
  const ConnectionId id_;
  websocket::stream<beast::tcp_stream> stream_;
  asio::steady_timer deadline_;  // of the first message, then of closing
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::deque<Outgoing> outgoing_;
  bool is_open_ = false, is_paused_ = false, is_closing_ = false, is_ended_ = false,
       is_reported_ = false;
};

}  // namespace

class WebServer::Loop {
 public:
  Loop(WebServerDesc desc, std::function<void()> wake) : acceptor_(io_), pause_(io_) {
    hub_.desc = std::move(desc);
    hub_.wake = std::move(wake);
    listen();
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Loop() {
    asio::post(io_, [this] {
      Error ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      std::map<ConnectionId, std::shared_ptr<Connection>> all;
      {
        const std::lock_guard lock(hub_.mutex);
        all = hub_.connections;
      }
      for (const auto& [id, connection] : all) connection->abort();
      io_.stop();
    });
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  std::vector<WebEvent> take_events() {
    std::vector<WebEvent> events;
    {
      const std::lock_guard lock(hub_.mutex);
      events.swap(hub_.events);
      for (const WebEvent& event : events) {
        const auto found = hub_.connections.find(event.connection);
        if (found == hub_.connections.end()) continue;
        found->second->untaken -= event.data.size();
        asio::post(io_, [connection = found->second] { connection->read_on(); });
      }
    }
    return events;
  }

  // Null: it ended.
  [[nodiscard]] std::shared_ptr<Connection> find(ConnectionId id) const {
    const std::lock_guard lock(hub_.mutex);
    const auto found = hub_.connections.find(id);
    return found == hub_.connections.end() ? nullptr : found->second;
  }
  template <class Work>
  void post(Work work) {
    asio::post(io_, std::move(work));
  }

 private:
  void listen() {
    const WebServerDesc& desc = hub_.desc;
    Error error;
    tcp::resolver resolver(io_);
    const auto found =
        resolver.resolve(desc.address, std::to_string(desc.port), tcp::resolver::passive, error);
    if (error || found.empty())
      throw std::runtime_error("cannot find the address " + desc.address + ": " + error.message());
    tcp::endpoint endpoint = found.begin()->endpoint();
    for (std::uint16_t i = 0; i < desc.tried_ports; ++i) {
      endpoint.port(static_cast<std::uint16_t>(desc.port + i));
      acceptor_ = tcp::acceptor(io_);
      acceptor_.open(endpoint.protocol(), error);
      if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
      if (!error) acceptor_.bind(endpoint, error);
      if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
      if (!error) {
        port_ = acceptor_.local_endpoint().port();
        return;
      }
      if (error != asio::error::address_in_use) break;
    }
    throw std::runtime_error("cannot listen on " + desc.address + ", port " +
                             std::to_string(endpoint.port()) + ": " + error.message());
  }

  void accept() {
    acceptor_.async_accept([this](Error error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        pause_.expires_after(kAcceptPause);
        return pause_.async_wait([this](Error stopped) {
          if (!stopped) accept();
        });
      }
      take(std::move(socket));
      accept();
    });
  }
  void take(tcp::socket socket) {
    std::shared_ptr<Connection> connection;
    {
      const std::lock_guard lock(hub_.mutex);
      if (hub_.connections.size() >= hub_.desc.max_connections) return;
      const ConnectionId id = ++last_id_;
      connection = std::make_shared<Connection>(std::move(socket), hub_, id);
      hub_.connections.emplace(id, connection);
    }
    connection->start();
  }

  Hub hub_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::uint16_t port_ = 0;
  ConnectionId last_id_ = 0;
  std::thread thread_;
};

WebServer::WebServer(WebServerDesc desc, std::function<void()> wake)
    : loop_(std::make_unique<Loop>(std::move(desc), std::move(wake))) {}
WebServer::~WebServer() = default;

std::uint16_t WebServer::port() const noexcept { return loop_->port(); }
std::vector<WebEvent> WebServer::take_events() { return loop_->take_events(); }

void WebServer::send(ConnectionId connection, Message kind, std::string data) {
  const auto found = loop_->find(connection);
  if (!found) return;
  found->unsent += data.size();
  loop_->post(
      [found, kind, data = std::move(data)]() mutable { found->send(kind, std::move(data)); });
}

void WebServer::close(ConnectionId connection) {
  if (const auto found = loop_->find(connection)) loop_->post([found] { found->close(); });
}

std::size_t WebServer::unsent(ConnectionId connection) const {
  const auto found = loop_->find(connection);
  return found ? found->unsent.load() : 0;
}

}  // namespace reprise::viewer
