#include "trace/topology_state.hpp"

#include <doctest/doctest.h>

#include "trace/live/broadcast.hpp"
#include "unit/trace/trace_samples.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

Records read_all(const std::vector<std::shared_ptr<const Chunk>>& chunks) {
  Records all;
  for (const auto& chunk : chunks) {
    CHECK(chunk->header.kind == ChunkKind::Topology);
    Records r = read_chunk(chunk->header, chunk->payload);
    for (auto& graph : r.graph_versions) all.add(std::move(graph));
    for (auto& pool : r.pool_states) all.add(std::move(pool));
    for (auto& use : r.pool_uses) all.add(use);
    for (auto& buffer : r.buffer_lifetimes) all.add(std::move(buffer));
    for (auto& message : r.messages) all.add(std::move(message));
    for (auto& update : r.updates) all.add(std::move(update));
    for (auto& queue : r.queues) all.add(std::move(queue));
    for (auto& clock : r.clocks) all.add(clock);
    for (auto& totals : r.device_totals) all.add(totals);
    for (auto& name : r.thread_names) all.add(std::move(name));
    for (auto& device : r.devices) all.add(std::move(device));
    for (auto& session : r.sessions) all.add(std::move(session));
    for (auto& loss : r.losses) all.add(std::move(loss));
    for (auto& cost : r.creation_costs) all.add(cost);
  }
  return all;
}

std::size_t bytes_of(const std::vector<std::shared_ptr<const Chunk>>& chunks) {
  std::size_t bytes = 0;
  for (const auto& chunk : chunks) bytes += chunk->size();
  return bytes;
}

}  // namespace

TEST_CASE("topology state: it has the latest state of every object that has not ended") {
  TopologyState state;
  Records r;
  r.sessions = test::one_of_each().sessions;
  r.devices = test::one_of_each().devices;
  r.clocks = {{1, 100, 200, 32}, {kNone, 100, 900, 5}, {1, 300, 400, 16}};
  r.queues = {{4, 1, "main"}, {5, 1, "copy"}};
  r.thread_names = {{77, "old"}, {77, "trainer"}};
  r.graph_versions = {test::sample_graph(3, 2), test::sample_graph(4, 2)};
  r.graph_versions.push_back(test::sample_graph(3, 4));
  r.graph_versions.back().version = 2;
  r.pool_states = {{1, 1, 10, "step", 5}, {2, 1, 10, "gone", 1}, {1, 1, 20, "step", 6}};
  r.pool_uses = {{1, 3, PoolRole::Holder, 10, 0},
                 {1, 4, PoolRole::Holder, 11, 0},
                 {1, 4, PoolRole::Holder, 11, 15},
                 {1, 3, PoolRole::Sharer, 12, 0},
                 {2, 3, PoolRole::Sharer, 12, 0}};
  r.device_totals = {{1, 10, 0, 1}, {1, 20, 0, 2}};
  r.buffer_lifetimes = {{8, 1, 1, trace::BufferKind::Device, 64, 0, 10, 0, "x"},
                        {9, 1, 1, trace::BufferKind::Device, 64, 0, 10, 0, "y"}};
  r.messages = {{5, trace::Severity::Warning, "id", "text"}};
  r.updates = {{6, 3, 1, 2, "scalar"}};
  r.creation_costs = {{3, 7, 1}, {4, 8, 2}, {3, 9, 3}};
  state.add(r);
  Records later;
  later.buffer_lifetimes = {{8, 1, 1, trace::BufferKind::Device, 64, 0, 10, 30, "x"}};
  later.ended = {{40, ObjectKind::Graph, 4}, {41, ObjectKind::Pool, 2}, {42, ObjectKind::Queue, 5}};
  state.add(later);

  const Records now = read_all(state.chunks(17));
  CHECK(now.sessions == r.sessions);
  CHECK(now.devices == r.devices);
  CHECK(now.clocks == std::vector{r.clocks[2], r.clocks[1]});
  CHECK(now.queues == std::vector{r.queues[0]});
  CHECK(now.thread_names == std::vector{r.thread_names[1]});
  CHECK(now.graph_versions == std::vector{r.graph_versions[0], r.graph_versions[2]});
  CHECK(now.pool_states == std::vector{r.pool_states[2]});
  CHECK(now.pool_uses == std::vector{r.pool_uses[0], r.pool_uses[3]});
  CHECK(now.device_totals == std::vector{r.device_totals[1]});
  CHECK(now.buffer_lifetimes == std::vector{r.buffer_lifetimes[1]});
  CHECK(now.messages == r.messages);
  CHECK(now.updates == r.updates);
  CHECK(now.creation_costs == std::vector{r.creation_costs[2]});
  CHECK(now.losses.empty());
  CHECK(state.chunks(17).front()->header.sequence == 17);
  TopologyState again;
  again.add(now);
  CHECK(read_all(again.chunks(17)) == now);
}

TEST_CASE("topology state: the newest messages and updates are kept") {
  TopologyState state;
  Records r;
  for (Time at = 1; at <= 5'000; ++at) {
    r.messages.push_back({at, trace::Severity::Info, "id", std::string(50, 'm')});
    r.updates.push_back({at, 3, 1, 2, "scalar"});
  }
  state.add(std::move(r));
  const Records now = read_all(state.chunks(1));
  CHECK(now.messages.size() > 50);
  CHECK(now.messages.size() < 500);
  CHECK(now.messages.back().at == 5'000);
  CHECK(now.updates.size() < 500);
  CHECK(now.updates.back().at == 5'000);
}

TEST_CASE("topology state: what exceeds the limit is left out and counted, new graphs last") {
  TopologyState state;
  Records r;
  for (std::uint32_t graph = 0; graph < 1'000; ++graph) {
    r.graph_versions.push_back(test::sample_graph(graph, 3));
    r.graph_versions.back().plan_hash = graph * 0x9e3779b97f4a7c15u;
    r.buffer_lifetimes.push_back({graph, 1, 1, trace::BufferKind::Device, graph, 0, 10, 0, "x"});
  }
  state.add(r);
  const auto all = state.chunks(1);
  REQUIRE(bytes_of(all) > 15'000);
  CHECK(read_all(all).losses.empty());
  const auto some = state.chunks(1, 8'000);
  CHECK(bytes_of(some) <= 8'000);
  const Records now = read_all(some);
  REQUIRE(now.losses.size() == 1);
  CHECK(now.losses[0].count == 2'000 - now.graph_versions.size() - now.buffer_lifetimes.size());
  REQUIRE_FALSE(now.graph_versions.empty());
  CHECK(now.graph_versions.back().graph == 999);
  TopologyState again;
  again.add(now);
  CHECK(read_all(again.chunks(1)).losses == now.losses);
}

TEST_CASE("broadcast: data of the program is not sent to viewers") {
  Broadcast broadcast(1u << 20);
  const auto viewer = broadcast.attach();
  CHECK(broadcast.next(*viewer) == nullptr);
  Records records;
  records.content_blocks = {{1, 0, 0, {1, 2, 3}}};
  CHECK_FALSE(
      broadcast.write(std::make_shared<const Chunk>(make_chunk(ChunkKind::Contents, records, 0))));
  CHECK(broadcast.next(*viewer) == nullptr);
}

TEST_CASE("broadcast: a late viewer gets the latest topology, however long the session ran") {
  Broadcast broadcast(1u << 20);
  std::uint64_t sequence = 0;
  const auto write = [&](const Records& r) {
    static_cast<void>(broadcast.write(
        std::make_shared<const Chunk>(make_chunk(ChunkKind::Topology, r, sequence++))));
  };
  Records first;
  first.graph_versions = {test::sample_graph(7, 3)};
  write(first);
  std::uint32_t id = 100;
  for (int i = 0; i < 300; ++i) {
    Records r;
    for (int j = 0; j < 100; ++j, ++id) {
      r.buffer_lifetimes.push_back(
          {id, 1, 1, trace::BufferKind::Device, id * 7919u, id * 2654435761u, id, 0, "x"});
      r.buffer_lifetimes.push_back(r.buffer_lifetimes.back());
      r.buffer_lifetimes.back().freed = id + 500;
    }
    r.graph_versions = {test::sample_graph(id, 3)};
    r.ended = {{1, ObjectKind::Graph, id}};
    write(r);
  }
  const auto viewer = broadcast.attach();
  std::vector<std::shared_ptr<const Chunk>> chunks;
  while (auto chunk = broadcast.next(*viewer)) chunks.push_back(std::move(chunk));
  CHECK(bytes_of(chunks) < Broadcast::kMinCompactBytes + 20'000);
  CHECK(chunks.size() < 200);
  const Records now = read_all(chunks);
  CHECK(now.graph_versions.front() == first.graph_versions.front());
  CHECK(chunks.back()->header.sequence == sequence - 1);
}
