// "host:port" as people write it; without a host, this machine alone. Threads: values and pure
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

// "host:port", "[v6 address]:port", ":port" or "port". Empty: none of these, or a port beyond
// 65535.
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

}  // namespace reprise::trace
