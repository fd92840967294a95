#include "serve/request_checks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace reprise::viewer;

TEST_CASE("request checks: this machine's names are allowed with any port, and no other host") {
  const std::vector<std::string> none;
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:8321", "localhost:1", "LocalHost", "[::1]", "[::1]:65535"})
    CHECK_MESSAGE(is_allowed_host(host, none), host);
  for (const char* host :
       {"", ":8321", "evil.example", "evil.example:8321", "127.0.0.1.evil.example",
        "localhost.evil.example:80", "localhost:80:80", "localhost:x", "localhost:123456", "[::1",
        "[::1]x", "[::2]:80", "0.0.0.0:8321", "127.0.0.2", "localhost:80@evil.example", "::1",
        " localhost"})
    CHECK_FALSE_MESSAGE(is_allowed_host(host, none), host);
}

TEST_CASE("request checks: names of --allow-host are allowed besides") {
  const std::vector<std::string> allowed = {"gpu-box", "viewer.example.org"};
  CHECK(is_allowed_host("GPU-box:8321", allowed));
  CHECK(is_allowed_host("viewer.example.org", allowed));
  CHECK(is_allowed_host("localhost", allowed));
  CHECK_FALSE(is_allowed_host("example.org", allowed));
}

TEST_CASE("request checks: an origin is http or https at an allowed host") {
  const std::vector<std::string> allowed = {"gpu-box"};
  CHECK(is_allowed_origin("http://localhost:8321", allowed));
  CHECK(is_allowed_origin("https://gpu-box", allowed));
  for (const char* origin :
       {"", "null", "localhost", "file://", "http://", "ftp://localhost", "http://evil.example",
        "https://gpu-box.evil.example", "http://localhost/x", "http://localhost:8321.evil.example"})
    CHECK_FALSE_MESSAGE(is_allowed_origin(origin, allowed), origin);
}

TEST_CASE("request checks: the policy allows only the nonce's scripts and this server") {
  const std::vector<std::string> allowed = {"gpu-box"};
  const std::string policy = content_policy("abc", "localhost:8321", allowed);
  CHECK(policy.find("default-src 'none'") == 0);
  CHECK(policy.find("script-src 'nonce-abc';") != std::string::npos);
  CHECK(policy.find("unsafe") == std::string::npos);
  CHECK(policy.find("connect-src 'self' ws://localhost:8321 wss://localhost:8321;") !=
        std::string::npos);
  const std::string embedders = policy.substr(policy.find("frame-ancestors"));
  for (const char* embedder :
       {"'self'", "http://localhost:*", "https://127.0.0.1:*", "http://gpu-box:*"})
    CHECK_MESSAGE(embedders.find(embedder) != std::string::npos, embedder);
}

TEST_CASE("request checks: a token has 128 bits and is another each time") {
  const std::string token = random_text();
  CHECK(token.size() == 32);
  CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(token != random_text());
}
