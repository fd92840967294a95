#include "viewer/serve/web_client.hpp"

#include <cctype>
#include <chrono>

#include <doctest/doctest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

namespace reprise::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;

namespace {

constexpr int kPatience = 5000;  // ms

tcp::socket connected(asio::io_context& io, std::uint16_t port) {
  tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  socket.set_option(tcp::no_delay(true));  // as browsers do
  return socket;
}

}  // namespace

WebAnswer http_request(std::uint16_t port, const WebRequest& request) {
  asio::io_context io;
  tcp::socket socket = connected(io, port);
  http::request<http::empty_body> sent(http::string_to_verb(request.method), request.target, 11);
  sent.set(http::field::host, request.host);
  if (!request.origin.empty()) sent.set(http::field::origin, request.origin);
  http::write(socket, sent);
  beast::flat_buffer buffer;
  http::response<http::string_body> got;
  http::read(socket, buffer, got);
  WebAnswer answer{.status = got.result_int(), .headers = {}, .body = got.body()};
  for (const auto& field : got) {
    std::string name(field.name_string());
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    answer.headers[name] = std::string(field.value());
  }
  return answer;
}

struct WebClient::Socket {
  asio::io_context io;
  websocket::stream<tcp::socket> stream;
  beast::flat_buffer buffer;
  beast::error_code error;
  bool is_reading = false;
  explicit Socket(std::uint16_t port) : stream(connected(io, port)) {}
};

WebClient::WebClient(std::uint16_t port, const WebClientDesc& desc)
    : acknowledges(desc.acknowledges), socket_(std::make_unique<Socket>(port)) {
  websocket::permessage_deflate deflate;
  deflate.client_enable = desc.compresses;
  socket_->stream.set_option(deflate);
  socket_->stream.read_message_max(64u << 20);
  socket_->stream.set_option(
      websocket::stream_base::decorator([&](websocket::request_type& request) {
        if (!desc.origin.empty()) request.set(http::field::origin, desc.origin);
      }));
  socket_->stream.handshake(desc.host, "/session");
  if (!desc.sends_hello) return;
  send({{"type", "hello"},
        {"token", desc.token},
        {"width", 1600},
        {"height", 900},
        {"scale", 1},
        {"dark", true},
        {"state", desc.state},
        {"resume", desc.resume}});
}

WebClient::~WebClient() = default;

bool WebClient::send(const nlohmann::json& message) { return send_text(message.dump()); }

bool WebClient::send_text(const std::string& text) {
  beast::error_code error;
  socket_->stream.text(true);
  socket_->stream.write(asio::buffer(text), error);
  return !error;
}

void WebClient::send_bytes(const std::string& bytes) {
  beast::error_code ignored;
  socket_->stream.binary(true);
  socket_->stream.write(asio::buffer(bytes), ignored);
}

void WebClient::leave() {
  beast::error_code ignored;
  socket_->stream.close(websocket::close_code::going_away, ignored);
}

std::optional<nlohmann::json> WebClient::read(int timeout_ms) {
  Socket& socket = *socket_;
  auto& stream = socket.stream;
  if (!socket.is_reading) {  // it stays pending after a timeout
    socket.is_reading = true;
    socket.buffer.clear();
    stream.async_read(socket.buffer, [&socket](beast::error_code error, std::size_t) {
      socket.is_reading = false;
      socket.error = error;
    });
  }
  socket.io.restart();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (socket.is_reading && std::chrono::steady_clock::now() < end) socket.io.run_one_until(end);
  if (socket.is_reading) return std::nullopt;
  if (socket.error) return nlohmann::json({{"type", "end"}});
  const std::string data = beast::buffers_to_string(socket.buffer.data());
  if (stream.got_text()) {
    nlohmann::json message = nlohmann::json::parse(data);
    if (message.at("type") == "welcome") session = message.at("session");
    return message;
  }
  REQUIRE_FALSE(data.empty());
  if (data[0] == 1) {
    decoder.decode(data);
    ++frames;
    frame_bytes += data.size();
    if (acknowledges) send({{"type", "ack"}, {"frame", decoder.frame}});
    return nlohmann::json({{"type", "frame"}});
  }
  if (data[0] == 2) ++textures;
  if (data[0] == 3) downloaded += data.substr(5);
  return nlohmann::json({{"type", data[0] == 2 ? "texture" : "chunk"}});
}

nlohmann::json WebClient::wait_for(const std::string& type) {
  for (;;) {
    const auto message = read(kPatience);
    if (!message || (message->at("type") == "end" && type != "end")) return nullptr;
    if (message->at("type") == type) return *message;
  }
}

std::size_t WebClient::read_until_quiet(int quiet_ms) {
  const std::size_t before = frames;
  while (const auto message = read(quiet_ms)) {
    if (message->at("type") == "end") break;
  }
  return frames - before;
}

bool WebClient::has_ended() { return !wait_for("end").is_null(); }

}  // namespace reprise::test
