#include <doctest/doctest.h>

#include <random>

#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

// Random durations that do not compress: socket buffers hold a few of these chunks, not hundreds.
std::shared_ptr<const Chunk> noisy_chunk(std::uint32_t samples) {
  Records records;
  records.sample_blocks = {test::sample_block(1, samples)};
  std::minstd_rand random(1);
  for (Sample& sample : records.sample_blocks[0].samples)
    sample.duration = static_cast<std::uint32_t>(random());
  return std::make_shared<const Chunk>(make_chunk(ChunkKind::Samples, records, 0));
}

}  // namespace

// The slow viewer is a client that is not polled. The writer is this thread, so a write that waits
// would never return.
TEST_CASE(
    "live server: a viewer that does not read loses chunks and gets their count, while others get "
    "all") {
  constexpr std::uint64_t kChunks = 400;
  constexpr std::uint32_t kSamples = 20'000;
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.viewer_bytes = 128u << 10;
  LiveServer server(desc);

  std::uint64_t seen = 0, lost = 0, sequence = 0;
  bool in_order = true, marked = false;
  LiveClient slow({server.path(), {}, [&](const std::shared_ptr<const Chunk>& chunk) {
                     in_order = in_order && chunk->header.sequence >= sequence;
                     sequence = chunk->header.sequence;
                     const Records records = read_chunk(chunk->header, chunk->payload);
                     for (const SampleBlock& block : records.sample_blocks)
                       seen += block.samples.size();
                     for (const Loss& loss : records.losses) lost += loss.count;
                     marked = marked || !records.graph_versions.empty();
                   }});
  test::Collector fast(server.path());
  REQUIRE(fast.wait_until_live());
  REQUIRE(test::eventually([&] {
    slow.poll();
    return slow.status().state == LiveState::Live;
  }));
  REQUIRE(test::eventually([&] { return server.stats().welcomed == 2; }));

  const auto chunk = noisy_chunk(kSamples);
  for (std::uint64_t i = 0; i < kChunks; ++i) {
    auto next = std::make_shared<Chunk>(*chunk);
    next->header.sequence = i;
    server.write(next);
    REQUIRE(fast.wait_for_chunks(i + 1));
  }
  server.write(test::topology_chunk(1, kChunks));
  REQUIRE(fast.wait_for_chunks(kChunks + 1));
  CHECK(server.stats().dropped_chunks > 0);
  CHECK(fast.chunks().size() == kChunks + 1);

  REQUIRE(test::eventually([&] {
    slow.poll();
    return marked;
  }));
  CHECK(lost == server.stats().dropped_chunks * kSamples);
  CHECK(seen + lost == kChunks * kSamples);
  CHECK(in_order);
}

TEST_CASE(
    "live server: viewers that never read delay neither flush nor the destructor indefinitely") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.linger = std::chrono::milliseconds(0);
  desc.viewer_bytes = 64u << 10;
  auto server = std::make_unique<LiveServer>(desc);
  std::vector<test::RawPeer> peers;
  for (int i = 0; i < 8; ++i) {
    peers.emplace_back(server->path());
    peers.back().send(encode_hello(""));
  }
  REQUIRE(test::eventually([&] { return server->stats().welcomed == 8; }));
  const auto chunk = noisy_chunk(20'000);
  REQUIRE(test::eventually([&] {
    server->write(chunk);
    return server->stats().dropped_chunks >= 100;
  }));
  server->flush();
  server.reset();
  CHECK(peers.front().is_closed());
}

// The history of one pool: a new viewer receives only its last state.
TEST_CASE("live server: a viewer that stops reading is disconnected before topology accumulates") {
  const test::RuntimeFolder runtime;
  LiveServerDesc desc = test::patient("digits");
  desc.viewer_bytes = 1u << 20;
  LiveServer server(desc);
  LiveClient stopped({server.path(), {}, [](const std::shared_ptr<const Chunk>&) {}});
  REQUIRE(test::eventually([&] {
    stopped.poll();
    return stopped.status().state == LiveState::Live && server.stats().viewers == 1;
  }));
  test::Collector reader(server.path());
  REQUIRE(reader.wait_until_live());

  std::minstd_rand random(1);
  Records records;
  records.pool_states.resize(1);
  std::size_t written = 0, chunks = 0;
  constexpr std::size_t kLimit = 16u << 20;  // the queue, what a new viewer receives, sockets
  while (server.stats().too_slow == 0 && written < kLimit) {
    PoolState& pool = records.pool_states[0];
    pool.label.resize(64u << 10);  // does not compress
    for (char& c : pool.label) c = static_cast<char>('0' + random() % 64);
    const auto chunk =
        std::make_shared<const Chunk>(make_chunk(ChunkKind::Topology, records, chunks++));
    written += chunk->size();
    server.write(chunk);
    REQUIRE(reader.wait_for_chunks(chunks));
  }
  CHECK(server.stats().too_slow == 1);
  CHECK(server.stats().viewers == 1);
  CHECK(written < kLimit);
  REQUIRE(test::eventually([&] {
    stopped.poll();
    return stopped.status().state == LiveState::Closed;
  }));

  test::Collector late(server.path());
  CHECK(late.wait_for_chunks(1));
}
