#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "trace/live/session_directory.hpp"
#include "unit/trace/child_process.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;
using reprise::test::Child;

TEST_CASE("live server: kill -9 of a viewer only ends its connection") {
  const test::RuntimeFolder runtime;
  Child child([](int from, int to) {
    const test::RawPeer peer(std::filesystem::path(Child::read_text(from)));
    peer.send(encode_hello(""));
    Child::send(to, peer.connected() ? "sent" : "no");
    for (;;) ::pause();
  });
  LiveServer server(test::patient("digits"));
  test::Collector other(server.path());
  REQUIRE(other.wait_until_live());
  REQUIRE(test::eventually([&] { return server.stats().welcomed == 1; }));
  const std::size_t before = test::open_descriptors();
  child.say(server.path());
  REQUIRE(child.receive() == "sent");
  REQUIRE(test::eventually(
      [&] { return server.stats().viewers == 2 && server.stats().welcomed == 2; }));
  server.write(test::sample_chunk(1000, 0));
  child.kill();
  for (std::uint64_t i = 1; i < 20; ++i) server.write(test::sample_chunk(1000, i));
  CHECK(test::eventually([&] { return server.stats().viewers == 1; }));
  CHECK(other.wait_for_chunks(20));
  CHECK(test::eventually([&] { return test::open_descriptors() == before; }));
}

TEST_CASE(
    "live client: kill -9 of a session ends the connection, and its stale socket is removed") {
  const test::RuntimeFolder runtime;
  Child child([](int, int to) {
    // It lives until the process ends.
    auto* server = new LiveServer(test::patient("victim"));
    server->write(test::topology_chunk(1, 0));
    Child::send(to, server->path());
  });
  const std::string path = child.receive();
  const auto session = [&] {
    const auto all = list_sessions();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const LiveSession& s) { return s.path == path; });
    return found == all.end() ? std::optional<LiveSession>() : *found;
  };
  test::Collector viewer(path);
  REQUIRE(viewer.wait_for_chunks(1));
  REQUIRE(session());
  CHECK(session()->alive);
  CHECK(session()->application == "victim");
  CHECK(session()->pid == static_cast<std::uint32_t>(child.pid()));
  child.kill();
  REQUIRE(viewer.wait_for_end());
  CHECK(viewer.client().status().state == LiveState::Closed);
  REQUIRE(session());
  CHECK_FALSE(session()->alive);
  const LiveServer next(test::patient("next"));  // removes stale sockets on start
  CHECK_FALSE(session());
  CHECK_FALSE(std::filesystem::exists(path));
}
