#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>

#include <random>

#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

LiveServerDesc with_tcp(std::string token) {
  LiveServerDesc desc = test::patient("digits");
  desc.listen = "127.0.0.1:0";
  desc.token = std::move(token);
  return desc;
}

bool gone(const LiveServer& server) {
  return test::eventually([&] { return server.stats().connections == 0; });
}

}  // namespace

TEST_CASE("live server: a wrong token is rejected without information about the session") {
  const test::RuntimeFolder runtime;
  LiveServer server(with_tcp("secret"));
  server.write(test::topology_chunk(1, 0));
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  std::uint64_t refused = 0;
  for (const char* token : {"", "wrong", "secret ", "secre", "SECRET"}) {
    test::Collector viewer(address, token);
    REQUIRE(viewer.wait_for_end());
    CHECK(viewer.client().status().state == LiveState::Refused);
    CHECK(viewer.client().status().session.application.empty());
    CHECK(viewer.chunks().empty());
    ++refused;
  }
  CHECK(test::eventually([&] { return server.stats().wrong_tokens == refused; }));
  const test::RawPeer peer(server.port());
  peer.send(encode_hello("wrong"));
  std::vector<std::uint8_t> text;
  CHECK(peer.read_to_end(text));
  CHECK(text == encode_answer(LiveAnswer::WrongToken, {}, {}));
  CHECK(gone(server));
  test::Collector right(address, "secret");
  CHECK(right.wait_for_chunks(1));
}

TEST_CASE("live server: garbage closes its connection and leaks nothing") {
  const test::RuntimeFolder runtime;
  LiveServer server(with_tcp("secret"));
  test::Collector viewer(server.path());
  REQUIRE(viewer.wait_until_live());
  REQUIRE(test::eventually([&] { return server.stats().connections == 1; }));
  const std::size_t before = test::open_descriptors();
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::uint8_t> bytes(kGreetingHeadBytes + random() % 4096);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    bytes[0] = 'x';
    const test::RawPeer peer =
        i % 2 == 0 ? test::RawPeer(server.path()) : test::RawPeer(server.port());
    REQUIRE(peer.connected());
    peer.send(bytes);
    CHECK(peer.is_closed());
  }
  CHECK(test::eventually([&] { return server.stats().garbage == 100; }));
  CHECK(test::eventually([&] { return test::open_descriptors() == before; }));
  server.write(test::sample_chunk(5, 0));
  CHECK(viewer.wait_for_chunks(1));
}

TEST_CASE("live server: garbage after the handshake closes the connection") {
  const test::RuntimeFolder runtime;
  LiveServer server(test::patient("digits"));
  for (const std::vector<std::uint8_t>& entry_exit :
       {std::vector<std::uint8_t>{255, 255, 255, 255}, {0, 0, 0, 0}, {1, 1, 0, 0}}) {
    const test::RawPeer peer(server.path());
    peer.send(encode_hello(""));
    peer.send(entry_exit);
    CHECK(peer.is_closed());
  }
  CHECK(test::eventually([&] { return server.stats().garbage == 3; }));
  CHECK(gone(server));
}

TEST_CASE("live server: an incomplete handshake is closed at the deadline, at any byte") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = with_tcp("secret");
  desc.handshake_deadline = std::chrono::milliseconds(1);
  const LiveServer server(desc);
  const std::size_t before = test::open_descriptors();
  const std::vector<std::uint8_t> hello = encode_hello("secret");
  for (std::size_t bytes = 0; bytes < hello.size(); ++bytes) {
    const test::RawPeer peer(server.port());
    peer.send({hello.begin(), hello.begin() + static_cast<std::ptrdiff_t>(bytes)});
    CHECK(peer.is_closed());
  }
  CHECK(test::eventually([&] { return server.stats().late == hello.size(); }));
  CHECK(gone(server));
  CHECK(test::eventually([&] { return test::open_descriptors() == before; }));
}

TEST_CASE(
    "live server: of 1,000 connections, the oldest without a handshake are closed, and nothing "
    "leaks") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = with_tcp("secret");
  desc.max_connections = 16;
  LiveServer server(desc);
  test::Collector viewer(server.path());
  REQUIRE(viewer.wait_until_live());
  REQUIRE(test::eventually([&] { return server.stats().connections == 1; }));
  const std::size_t before = test::open_descriptors();
  for (int round = 0; round < 10; ++round) {
    std::vector<test::RawPeer> peers;
    for (int i = 0; i < 100; ++i) {
      if (i % 2 == 0) {
        peers.emplace_back(server.path());
      } else {
        peers.emplace_back(server.port());
      }
      REQUIRE(peers.back().connected());
    }
    // 50 peers connect to the socket file, where 15 remain beside the viewer, and 50 to TCP, where
    // 16 remain.
    const auto expected = static_cast<std::uint64_t>(round + 1) * (35 + 34);
    CHECK(test::eventually(
        [&] { return server.stats().too_many == expected && server.stats().connections == 32; }));
    CHECK(peers[0].is_closed());
    CHECK(peers[1].is_closed());
    peers.clear();
    CHECK(test::eventually([&] { return server.stats().connections == 1; }));
  }
  CHECK(server.stats().left == 310);
  CHECK(test::eventually([&] { return test::open_descriptors() == before; }));
  server.write(test::sample_chunk(5, 0));
  CHECK(viewer.wait_for_chunks(1));
  test::Collector another(server.path());
  CHECK(another.wait_until_live());
}

TEST_CASE("live server: idle connections without a token keep no viewer out") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = with_tcp("secret");
  desc.max_connections = 4;
  LiveServer server(desc);
  std::vector<test::RawPeer> idle;
  for (int i = 0; i < 4; ++i) idle.emplace_back(server.port());
  REQUIRE(test::eventually([&] { return server.stats().connections == 4; }));
  test::Collector owner(server.path());
  CHECK(owner.wait_until_live());
  CHECK(server.stats().too_many == 0);
  test::Collector remote("127.0.0.1:" + std::to_string(server.port()), "secret");
  CHECK(remote.wait_until_live());
  CHECK(server.stats().too_many == 1);
}

TEST_CASE("live server: a viewer is not closed in favour of a newer connection") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.max_connections = 1;
  LiveServer server(desc);
  test::Collector viewer(server.path());
  REQUIRE(viewer.wait_until_live());
  const test::RawPeer late(server.path());
  CHECK(late.is_closed());
  CHECK(test::eventually([&] { return server.stats().too_many == 1; }));
  CHECK(server.stats().viewers == 1);
}

TEST_CASE(
    "live server: without free file descriptors it rejects connections, and later accepts again") {
  const test::RuntimeFolder runtime;
  LiveServer server(test::patient("digits"));
  test::Collector viewer(server.path());
  REQUIRE(viewer.wait_until_live());
  REQUIRE(test::eventually([&] { return server.stats().welcomed == 1; }));
  {
    std::vector<int> taken;  // every free descriptor
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit low{static_cast<rlim_t>(test::open_descriptors()) + 40, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::open("/dev/null", O_RDONLY))
      taken.push_back(fd);
    bool refused = !taken.empty();
    if (refused) {
      ::close(taken.back());
      taken.pop_back();
    }
    for (int i = 0; i < 5 && refused; ++i) {
      const test::RawPeer peer(server.path());  // uses the only one
      refused = peer.connected() && peer.is_closed();
    }
    for (const int fd : taken) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(refused);
  }
  CHECK(test::eventually([&] { return server.stats().too_many == 5; }));
  test::Collector another(server.path());
  CHECK(another.wait_until_live());
  server.write(test::sample_chunk(5, 0));
  CHECK(viewer.wait_for_chunks(1));
}
