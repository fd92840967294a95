// WebServer: HTTP and WebSockets on a thread of its own. It gives the page to allowed hosts and
// passes on the messages of its sockets; it knows neither their meaning nor who may connect. A slow
// peer slows nobody: what it does not read waits within limits that the owner checks, and what it
// sends is read only as fast as the owner takes it. Threads: any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::viewer {

using ConnectionId = std::uint64_t;

struct WebServerDesc {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;          // the first that is tried; 0: any
  std::uint16_t tried_ports = 1;   // from `port` on, the first that is free
  std::vector<std::string> hosts;  // allowed besides this machine's names
  std::string_view page;
  std::size_t max_connections = 64;
  std::size_t max_message = 512u << 10;      // bytes; a longer one closes the connection
  std::uint32_t first_message_seconds = 10;  // a connection without one is closed after that time
};

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
  // Listens. `wake` is called on the server's thread when an event waits or a connection has sent
  // everything. Throws std::runtime_error that names address and port.
  WebServer(WebServerDesc desc, std::function<void()> wake);
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  ~WebServer();  // closes all connections

  [[nodiscard]] std::uint16_t port() const noexcept;
  // The events since the last call, in their order.
  [[nodiscard]] std::vector<WebEvent> take_events();
  // A connection that has ended ignores these.
  enum class Message : std::uint8_t { Text, Binary };
  void send(ConnectionId connection, Message kind, std::string data);
  void close(ConnectionId connection);  // after what was sent; no event follows
  // Bytes that were given to send() and are not yet sent; 0 if the connection ended.
  [[nodiscard]] std::size_t unsent(ConnectionId connection) const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace reprise::viewer
