// WebServer: HTTP and WebSockets. It gives the page to allowed hosts and passes on the messages of
// its sockets; it knows neither their meaning nor who may connect. A slow peer slows nobody: what
// it does not read waits within limits that the owner checks. Threads: one, except for wake().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/serve_desc.hpp"

namespace reprise::viewer {

using ConnectionId = std::uint64_t;
using ServeClock = std::chrono::steady_clock;

struct WebEvent {
  enum class Kind : std::uint8_t {
    Text,
    Binary,
    Left,  // closed by the page
    Lost   // closed by anything else
  } kind = Kind::Text;
  ConnectionId connection = 0;
  std::string data;
};

class WebServer {
 public:
  // Listens on the port of `desc`, or on one of the next if it is taken. `desc` outlives this
  // object. Throws std::runtime_error that names address and port.
  WebServer(const ServeDesc& desc, std::function<void(const WebEvent&)> on_event);
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  ~WebServer();  // closes all connections

  [[nodiscard]] std::uint16_t port() const;
  // Receives and sends until `due`, or until wake() or a peer acts.
  void run_until(ServeClock::time_point due);
  void wake();
  // A connection that has ended ignores these.
  enum class Message : std::uint8_t { Text, Binary };
  void send(ConnectionId connection, Message kind, std::string data);
  void close(ConnectionId connection);  // after what was sent; no event follows
  // Bytes that were given to send() and are not yet sent; 0 if the connection ended.
  [[nodiscard]] std::size_t unsent(ConnectionId connection) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer
