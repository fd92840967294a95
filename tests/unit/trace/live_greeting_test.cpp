#include <doctest/doctest.h>

#include <span>

#include "trace/live/live_request.hpp"
#include "trace/live/tcp_address.hpp"

using namespace reprise::trace;

namespace {

std::optional<std::size_t> hello_of(const std::vector<std::uint8_t>& bytes) {
  return decode_hello(std::span(bytes).first<kGreetingHeadBytes>());
}
std::optional<LiveRequest> request_of(const std::vector<std::uint8_t>& bytes) {
  const auto length = decode_request_head(std::span(bytes).first<kRequestHeadBytes>());
  if (!length || *length + kRequestHeadBytes != bytes.size()) return {};
  return decode_request(std::span(bytes).subspan(kRequestHeadBytes));
}

}  // namespace

TEST_CASE("greeting: a hello contains the length of its token, which is limited") {
  std::vector<std::uint8_t> hello = encode_hello("secret");
  CHECK(hello.size() == kGreetingHeadBytes + 6);
  CHECK(hello_of(hello) == 6);
  CHECK(hello_of(encode_hello("")) == 0);
  CHECK(hello_of(encode_hello(std::string(1000, 'x'))) == kMaxTokenBytes);
  hello[5] = 2;
  CHECK_FALSE(hello_of(hello));
  hello = encode_hello("secret");
  hello[0] ^= 1;
  CHECK_FALSE(hello_of(hello));
}

TEST_CASE("greeting: only the complete token is accepted") {
  CHECK(same_token("secret", "secret"));
  CHECK_FALSE(same_token("secret", "secreT"));
  CHECK_FALSE(same_token("secret", "secre"));
  CHECK_FALSE(same_token("secret", std::string_view("secret\0", 7)));
  CHECK_FALSE(same_token("secret", ""));
  CHECK_FALSE(same_token(std::string(kMaxTokenBytes, 'x'), std::string(kMaxTokenBytes + 1, 'x')));
}

TEST_CASE("greeting: the session line survives a round trip without separators in its fields") {
  const auto round_trip = [](const SessionLine& line) {
    const auto bytes = encode_answer(LiveAnswer::Welcome, LiveProfile::Sampled, line);
    const auto head = decode_answer(std::span(bytes).first<kGreetingHeadBytes>());
    REQUIRE(head);
    CHECK(head->allowed == LiveProfile::Sampled);
    CHECK(head->line_bytes + kGreetingHeadBytes == bytes.size());
    return decode_session_line(
        {reinterpret_cast<const char*>(bytes.data()) + kGreetingHeadBytes, head->line_bytes});
  };
  CHECK(round_trip({4711, "digits", "node7"}) == SessionLine{4711, "digits", "node7"});
  CHECK(round_trip({1, "a\tb\n", ""}) == SessionLine{1, "a b ", ""});
  CHECK(round_trip({1, std::string(5000, 'x'), "host"}).host == "host");
  CHECK(decode_session_line("") == SessionLine{});
  CHECK(decode_session_line("\t\t\t") == SessionLine{0, "", " "});
}

TEST_CASE("live request: known requests survive a round trip, all other bytes are rejected") {
  for (const LiveRequest& request : {LiveRequest{LiveRequest::Kind::SetProfile, LiveProfile::Every},
                                     LiveRequest{LiveRequest::Kind::Flush}}) {
    CHECK(request_of(encode_request(request)) == request);
  }
  CHECK_FALSE(request_of({2, 0, 0, 0, 99, 0}));
  CHECK_FALSE(request_of({2, 0, 0, 0, 1, 0}));     // the level is missing
  CHECK_FALSE(request_of({3, 0, 0, 0, 1, 0, 4}));  // invalid level
  CHECK_FALSE(request_of({1, 0, 0, 0, 1}));        // too short for a kind
  CHECK_FALSE(request_of({1, 1, 0, 0}));           // exceeds the limit
  CHECK_FALSE(request_of({255, 255, 255, 255}));
}

TEST_CASE("live request: the requested level is limited to the permitted one") {
  const LiveRequest every{LiveRequest::Kind::SetProfile, LiveProfile::Every};
  CHECK(capped(every, LiveProfile::Every) == every);
  CHECK(capped(every, LiveProfile::Replays)->profile == LiveProfile::Replays);
  const LiveRequest flush{LiveRequest::Kind::Flush};
  CHECK(capped(flush, LiveProfile::Off) == flush);
  for (const LiveRequest& request : {every, flush}) CHECK_FALSE(capped(request, std::nullopt));
}

TEST_CASE("TCP address: without a host the address is loopback") {
  CHECK(parse_tcp_address("9000")->host == "127.0.0.1");
  CHECK(parse_tcp_address(":9000")->port == "9000");
  CHECK(parse_tcp_address("node7:0")->host == "node7");
  CHECK(parse_tcp_address("[::1]:80")->host == "::1");
  for (const char* wrong :
       {"", ":", "node7", "node7:", "node7:65536", "node7:-1", "::1:80", "[::1]", "a:b:1", "1 "}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_tcp_address(wrong));
  }
}
