// Checks of HTTP requests against other sites: a page that resolves its own name to this machine
// (rebinding) has a foreign Host, and one that opens a socket has a foreign Origin. Threads: pure
// functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace reprise::viewer {

// "name", "name:port", "[::1]:port". The names of this machine (127.0.0.1, localhost, [::1]) and
// those of `allowed` with any port.
[[nodiscard]] bool is_allowed_host(std::string_view host, std::span<const std::string> allowed);
// "http://host" and "https://host", for the same hosts.
[[nodiscard]] bool is_allowed_origin(std::string_view origin, std::span<const std::string> allowed);

// The name of an address in links and requests: "[::1]", and this machine's for every address.
[[nodiscard]] std::string host_of_address(const std::string& address);

// The Content-Security-Policy of the page, whose scripts have the nonce. `host`: allowed, of the
// request. Pages of this machine and of `allowed` may embed it.
[[nodiscard]] std::string content_policy(std::string_view nonce, std::string_view host,
                                         std::span<const std::string> allowed);

// 128 random bits as 32 digits.
[[nodiscard]] std::string random_text();

}  // namespace reprise::viewer
