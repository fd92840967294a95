#include <doctest/doctest.h>

#include "trace/live/session_directory.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_writer.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;

TEST_CASE("live server: a late viewer receives all topology first, then every new chunk") {
  const test::RuntimeFolder runtime;
  LiveServer server(test::patient("digits"));
  server.write(test::topology_chunk(1, 0));
  server.write(test::sample_chunk(10, 1));  // without viewers
  server.write(test::topology_chunk(2, 2));
  test::Collector viewer(server.path());
  REQUIRE(viewer.wait_for_chunks(2));
  server.write(test::sample_chunk(20, 3));
  server.write(test::topology_chunk(3, 4));
  REQUIRE(viewer.wait_for_chunks(4));
  const auto chunks = viewer.chunks();
  REQUIRE(chunks.size() == 4);
  CHECK(chunks[0]->header.sequence == 0);
  CHECK(chunks[1]->header.sequence == 2);
  CHECK(chunks[2]->header.sequence == 3);
  CHECK(chunks[3]->header.sequence == 4);
  CHECK(read_chunk(chunks[2]->header, chunks[2]->payload).sample_blocks[0] ==
        test::sample_block(3, 20));
  CHECK(viewer.client().status().session.application == "digits");
  CHECK(viewer.client().status().session.pid == static_cast<std::uint32_t>(::getpid()));
}

TEST_CASE("live server: two viewers receive the same bytes, by path and by TCP") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.listen = ":0";
  desc.token = "secret";
  LiveServer server(desc);
  server.write(test::topology_chunk(1, 0));
  test::Collector one(server.path()), two("127.0.0.1:" + std::to_string(server.port()), "secret");
  REQUIRE(one.wait_for_chunks(1));
  REQUIRE(two.wait_for_chunks(1));
  for (std::uint64_t i = 1; i <= 50; ++i)
    server.write(i % 7 == 0 ? test::topology_chunk(2, i)
                            : test::sample_chunk(100 + static_cast<std::uint32_t>(i), i));
  REQUIRE(one.wait_for_chunks(51));
  REQUIRE(two.wait_for_chunks(51));
  CHECK(one.bytes() == two.bytes());
  CHECK(server.stats().viewers == 2);
  CHECK(server.stats().dropped_chunks == 0);
}

TEST_CASE("live server: as a sink of a writer it delivers all records") {
  const test::RuntimeFolder runtime;
  const auto server = std::make_shared<LiveServer>(test::patient("digits"));
  auto writer = std::make_unique<TraceWriter>();
  writer->add_sink(server);
  CHECK(writer->push(test::sample_graph(3, 4)));
  writer->flush();
  test::Collector viewer(server->path());
  REQUIRE(viewer.wait_for_chunks(1));
  for (std::uint64_t replay = 1; replay <= 100; ++replay)
    CHECK(writer->push(test::sample_block(replay, 50)));
  writer.reset();  // flushes its sinks
  const auto total = [&] {
    std::uint64_t samples = 0;
    for (const auto& chunk : viewer.chunks()) samples += chunk->header.sample_count;
    return samples;
  };
  CHECK(test::eventually([&] { return total() == 5000; }));
}

TEST_CASE("live server: its destructor closes the connections and removes the socket") {
  const test::RuntimeFolder runtime;
  auto server = std::make_unique<LiveServer>(test::patient("digits"));
  const auto path = server->path();
  test::Collector viewer(path);
  REQUIRE(viewer.wait_until_live());
  server.reset();
  REQUIRE(viewer.wait_for_end());
  CHECK(viewer.client().status().state == LiveState::Closed);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("live server: flush waits until viewers have received everything") {
  const test::RuntimeFolder runtime;
  auto server = std::make_unique<LiveServer>(test::patient("digits"));
  test::Collector viewer(server->path());
  REQUIRE(viewer.wait_until_live());
  REQUIRE(test::eventually([&] { return server->stats().welcomed == 1; }));
  for (std::uint64_t i = 0; i < 200; ++i) server->write(test::sample_chunk(1000, i));
  server->flush();
  server.reset();
  REQUIRE(viewer.wait_for_end());
  CHECK(viewer.chunks().size() == 200);
}

TEST_CASE(
    "live server: requests are limited to the permitted level, and unknown ones are ignored") {
  const test::RuntimeFolder runtime;
  std::mutex mutex;
  std::vector<LiveRequest> asked;
  LiveServerDesc desc = test::patient("digits");
  desc.remote_profile = LiveProfile::Sampled;
  desc.on_request = [&](const LiveRequest& request) {
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    if (asked.size() == 1) throw std::runtime_error("of the application");
  };
  LiveServer server(desc);
  test::RawPeer peer(server.path());
  peer.send(encode_hello(""));
  peer.send({2, 0, 0, 0, 99, 0});
  peer.send(encode_request({LiveRequest::Kind::SetProfile, LiveProfile::Every}));
  peer.send(encode_request({LiveRequest::Kind::Flush}));
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return asked.size();
  };
  REQUIRE(test::eventually([&] { return count() == 2; }));
  test::Collector viewer(server.path());
  viewer.client().request({LiveRequest::Kind::SetProfile, LiveProfile::Replays});
  REQUIRE(test::eventually([&] { return count() == 3; }));
  const std::lock_guard lock(mutex);
  CHECK(asked[0] == LiveRequest{LiveRequest::Kind::SetProfile, LiveProfile::Sampled});
  CHECK(asked[1] == LiveRequest{LiveRequest::Kind::Flush});
  CHECK(asked[2] == LiveRequest{LiveRequest::Kind::SetProfile, LiveProfile::Replays});
  CHECK(viewer.client().status().allowed == LiveProfile::Sampled);
}

TEST_CASE("live server: without a remote profile, every request is refused and counted") {
  const test::RuntimeFolder runtime;
  LiveServer server(test::patient("digits"));
  test::Collector viewer(server.path());
  viewer.client().request({LiveRequest::Kind::SetProfile, LiveProfile::Replays});
  viewer.client().request({LiveRequest::Kind::Flush});
  CHECK(test::eventually([&] { return server.stats().refused_requests == 2; }));
  CHECK_FALSE(viewer.client().status().allowed);
}

TEST_CASE("live server: a viewer reaches it by a name, whichever of its addresses it listens on") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.token = "secret";
  for (const char* const listen : {"127.0.0.1:0", "localhost:0"}) {
    desc.listen = listen;
    const LiveServer server(desc);
    test::Collector viewer("localhost:" + std::to_string(server.port()), "secret");
    CHECK(viewer.wait_until_live());
  }
}

TEST_CASE("live server: TCP requires a token") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.listen = "127.0.0.1:0";
  try {
    const LiveServer server(desc);
    FAIL("it listens");
  } catch (const TraceError& error) {
    CHECK(error.code() == TraceErrorCode::NotAllowed);
  }
  desc.token = "secret";
  desc.listen = "nonsense";
  CHECK_THROWS_AS(LiveServer{desc}, TraceError);
  desc.listen = "127.0.0.1:0";
  const LiveServer first(desc);
  desc.listen = "127.0.0.1:" + std::to_string(first.port());
  CHECK_THROWS_AS(LiveServer{desc}, TraceError);  // the address is in use
}
