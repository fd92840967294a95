// Parses TCP addresses; without a host, the address means loopback. Threads: values and pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::trace {

struct TcpAddress {
  std::string host = "127.0.0.1";
  std::string port;  // decimal
};

// Accepts "host:port", "[v6 address]:port", ":port" and "port". Empty: any other text, or a port
// above 65535.
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

}  // namespace reprise::trace
