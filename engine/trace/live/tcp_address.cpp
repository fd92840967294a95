#include "trace/live/tcp_address.hpp"

#include <charconv>
#include <cstdint>

namespace reprise::trace {

std::optional<TcpAddress> parse_tcp_address(std::string_view text) {
  TcpAddress out;
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
  std::string_view host =
      colon == std::string_view::npos ? std::string_view() : text.substr(0, colon);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc{} || end != port.data() + port.size()) return {};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of("[]:") != std::string_view::npos) {
    return {};
  }
  if (!host.empty()) out.host = host;
  out.port = std::to_string(number);
  return out;
}

}  // namespace reprise::trace
