#include "serve/request_checks.hpp"

#include <strings.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace reprise::viewer {

namespace {

constexpr std::array<std::string_view, 3> kThisMachine = {"127.0.0.1", "localhost", "[::1]"};

bool equal_names(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.size() <= 6 &&
          std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

}  // namespace

bool is_allowed_host(std::string_view host, std::span<const std::string> allowed) {
  const std::size_t end = host.starts_with('[') ? std::min(host.find(']'), host.size() - 1) + 1
                                                : std::min(host.find(':'), host.size());
  const std::string_view name = host.substr(0, end);
  if (name.empty() || !is_port(host.substr(end))) return false;
  const auto is_name = [&](std::string_view other) { return equal_names(name, other); };
  return std::any_of(kThisMachine.begin(), kThisMachine.end(), is_name) ||
         std::any_of(allowed.begin(), allowed.end(), is_name);
}

bool is_allowed_origin(std::string_view origin, std::span<const std::string> allowed) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_allowed_host(origin.substr(scheme.size()), allowed);
  }
  return false;
}

std::string host_of_address(const std::string& address) {
  if (address == "0.0.0.0" || address == "::") return "127.0.0.1";
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

std::string content_policy(std::string_view nonce, std::string_view host,
                           std::span<const std::string> allowed) {
  const std::string once = "'nonce-" + std::string(nonce) + "'", name(host);
  std::string embedders = "'self'";
  const auto add = [&](std::string_view other) {
    for (const char* scheme : {" http://", " https://"})
      embedders += scheme + std::string(other) + ":*";
  };
  for (const std::string_view other : kThisMachine) {
    if (!other.starts_with('[')) add(other);  // the grammar of policies has no IPv6 addresses
  }
  for (const std::string& other : allowed) add(other);
  return "default-src 'none'; script-src " + once + "; style-src " + once +
         "; img-src 'self' data: blob:; connect-src 'self' ws://" + name + " wss://" + name +
         "; base-uri 'none'; form-action 'none'; frame-ancestors " + embedders;
}

std::string random_text() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "cannot create a random token");
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace reprise::viewer
