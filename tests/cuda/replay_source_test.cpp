// CudaReplaySource on a GPU: timestamps of replays, profiling clones that time nodes, and unchanged
// results.
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "cuda/timed_graph.hpp"
#include "support/counting_allocator.hpp"

namespace reprise::test {
namespace {

std::int64_t host_now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

TEST_CASE(
    "cuda replay source: every replay has its start and end on the host's clock, with and without "
    "entry and exit kernels") {
  if (!have_gpu()) return;
  for (const std::uint32_t width : {1u, 3u, 8u, 300u}) {
    for (const Lowering lowering : {Lowering(Lowering::Auto), Lowering(Lowering::Faithful)}) {
      CAPTURE(width);
      Timed t;
      const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
      const auto values = t.pool->allocate<unsigned long long>(width, "values");
      t.make(t.record([&](CommandBuffer& cmd) { record_counters(cmd, kernel, values, width); }),
             lowering);
      const std::int64_t before = host_now();
      t.launch(50);
      t.wait();
      const std::int64_t after = host_now();
      CollectedReplays collected = t.collector();
      const auto lost = t.source->collect(collected);
      CHECK(lost.replays == 0);
      CHECK(lost.nodes == 0);
      REQUIRE(collected.replays.size() == 50);
      const auto clock = t.source->clock();
      REQUIRE(clock);
      // A larger error would make the times useless.
      CHECK(clock->error < 1'000'000);
      const std::int64_t slack = 2 * clock->error + 100'000;
      std::int64_t last = before - slack;
      for (std::uint64_t i = 0; i < collected.replays.size(); ++i) {
        const CollectedReplays::Replay& replay = collected.replays[i];
        CHECK(replay.replay == i + 1);
        CHECK(replay.nodes.empty());
        CHECK(replay.started >= last);
        CHECK(replay.ended > replay.started);
        last = replay.ended;
      }
      CHECK(last <= after + slack);
      collected.replays.clear();
      CHECK(t.source->collect(collected).replays == 0);
      CHECK(collected.replays.empty());
    }
  }
}

TEST_CASE(
    "cuda replay source: a profiling clone times the nodes of the requested replays and computes "
    "the same results") {
  if (!have_gpu()) return;
  constexpr std::uint32_t kWidth = 40;
  Timed t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
  const auto values = t.pool->allocate<unsigned long long>(kWidth, "values");
  const std::vector<unsigned long long> zeros(kWidth);
  t.run([&](CommandBuffer& cmd) { cmd.update(values, std::as_bytes(std::span(zeros))); });
  t.make(t.record([&](CommandBuffer& cmd) {
    record_counters(cmd, kernel, values, kWidth);
    for (std::uint32_t i = 0; i + 1 < kWidth; i += 2)
      cmd.copy(values.slice(i, 1), values.slice(i + 1, 1));
    record_counters(cmd, kernel, values, kWidth);
  }));
  t.launch(10);
  t.source->time_nodes(4, kClose);
  CHECK(t.source->is_timing_nodes());
  t.launch(10);
  t.wait();
  CollectedReplays collected = t.collector();
  CHECK(t.source->collect(collected).nodes == 0);
  CHECK_FALSE(t.source->is_timing_nodes());
  REQUIRE(collected.replays.size() == 20);
  for (const CollectedReplays::Replay& replay : collected.replays) {
    CAPTURE(replay.replay);
    CHECK(replay.nodes.empty() == (replay.replay < 11 || replay.replay > 14));
    if (!replay.nodes.empty()) check_nodes(t, replay);
  }
  // A repeated request reuses the clone.
  for (int again = 0; again < 20; ++again) {
    t.source->time_nodes(2, kClose);
    t.launch(3);
    t.wait();
    collected.replays.clear();
    static_cast<void>(t.source->collect(collected));
    REQUIRE(collected.replays.size() == 3);
    check_nodes(t, collected.replays[0]);
    check_nodes(t, collected.replays[1]);
    CHECK(collected.replays[2].nodes.empty());
  }
  // Each replay increments every value twice and copies every second one from its neighbour in
  // between, so all values are equal.
  const auto counted = t.read(values);
  for (std::uint32_t i = 0; i < kWidth; ++i) CHECK(counted[i] == 2 * t.launched);
}

TEST_CASE(
    "cuda replay source: with one of entry and exit kernel, nodes are timed between it and the "
    "other timestamp") {
  if (!have_gpu()) return;
  for (const bool has_end : {false, true}) {
    CAPTURE(has_end);
    const std::uint32_t width = has_end ? 12 : 3;
    Timed t;
    const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
    const auto values = t.pool->allocate<unsigned long long>(width, "values");
    t.make(t.record([&](CommandBuffer& cmd) {
      std::vector<CommandRef> made;
      for (std::uint32_t i = 0; i < width; ++i)
        made.push_back(
            cmd.dispatch(kernel, {.grid = 1, .block = 1}, read_write(values.slice(i, 1))));
      for (std::uint32_t i = 1; has_end && i < width; ++i) cmd.edge(made[0], made[i]);
    }));
    REQUIRE(t.plan().lowered.entry_exit == detail::EntryExit{.entry = !has_end, .exit = has_end});
    t.source->time_nodes(20, kClose);
    t.launch(40);
    t.wait();
    CollectedReplays collected = t.collector();
    CHECK(t.source->collect(collected).nodes == 0);
    REQUIRE(collected.replays.size() == 40);
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(collected.replays[i].ended > collected.replays[i].started);
      REQUIRE(collected.replays[i].nodes.empty() == (i >= 20));
      if (i < 20) check_nodes(t, collected.replays[i]);
    }
  }
}

TEST_CASE("cuda replay source: kAllReplays times all nodes of all replays until it is cancelled") {
  if (!have_gpu()) return;
  Timed t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
  const auto values = t.pool->allocate<unsigned long long>(3, "values");
  t.make(t.record([&](CommandBuffer& cmd) { record_counters(cmd, kernel, values, 3); }));
  t.source->time_nodes(detail::ReplaySource::kAllReplays, kClose);
  CollectedReplays collected = t.collector();
  for (int i = 0; i < 5; ++i) {
    t.launch(100);
    t.wait();
    CHECK(t.source->collect(collected).nodes == 0);
  }
  REQUIRE(collected.replays.size() == 500);
  for (const CollectedReplays::Replay& replay : collected.replays) check_nodes(t, replay);
  t.source->time_nodes(0, kClose);
  t.launch(10);
  t.wait();
  collected.replays.clear();
  static_cast<void>(t.source->collect(collected));
  REQUIRE(collected.replays.size() == 10);
  for (const CollectedReplays::Replay& replay : collected.replays) CHECK(replay.nodes.empty());
  CHECK_FALSE(t.source->is_timing_nodes());
}

TEST_CASE("cuda replay source: replays overwritten before collection are counted") {
  if (!have_gpu()) return;
  constexpr std::uint64_t kLaunches = 40'000;  // more than twice the ring
  Timed t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
  const auto values = t.pool->allocate<unsigned long long>(1, "values");
  t.make(t.record([&](CommandBuffer& cmd) { record_counters(cmd, kernel, values, 1); }));
  t.launch(kLaunches);
  t.wait();
  CollectedReplays collected = t.collector();
  const auto lost = t.source->collect(collected);
  CHECK(lost.replays > 0);
  CHECK(collected.replays.size() > 1000);
  CHECK(collected.replays.size() + lost.replays == kLaunches);
  CHECK(collected.replays.back().replay == kLaunches);
}

TEST_CASE(
    "cuda replay source: a profiling clone shares host callbacks, updates and snapshots with its "
    "graph") {
  if (!have_gpu()) return;
  Timed t;
  const std::vector<unsigned> bytes = {1, 2, 3, 4};
  const auto target = t.pool->allocate<unsigned>(4, "target");
  int calls = 0;
  t.make(t.record([&](CommandBuffer& cmd) {
    cmd.update(target, std::as_bytes(std::span(bytes)));
    cmd.host([&] {
      if (++calls == 5) throw std::runtime_error("the fifth");
    });
  }));
  t.launch(3);
  t.source->time_nodes(3, kClose);
  t.launch(4);
  t.wait();
  CHECK(calls == 7);
  for (std::uint64_t replay = 1; replay <= 7; ++replay)
    CHECK((t.exec->callback_error(replay) != nullptr) == (replay == 5));
  CHECK(t.read(target) == bytes);
}

TEST_CASE(
    "cuda replay source: it outlives its executable, reports the remaining times, and makes no "
    "further clone") {
  if (!have_gpu()) return;
  Timed t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
  const auto values = t.pool->allocate<unsigned long long>(2, "values");
  t.make(t.record([&](CommandBuffer& cmd) { record_counters(cmd, kernel, values, 2); }));
  t.source->time_nodes(2, kClose);
  t.launch(5);
  t.wait();
  CollectedReplays collected = t.collector();
  t.exec.reset();
  static_cast<void>(t.source->collect(collected));
  REQUIRE(collected.replays.size() == 5);
  check_nodes(t, collected.replays[1]);
  t.source->time_nodes(2, kClose);
  CHECK_FALSE(t.source->is_timing_nodes());
}

TEST_CASE("cuda replay source: launches of a graph and of its profiling clone do not allocate") {
  if (!have_gpu()) return;
  Timed t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_count);
  const auto values = t.pool->allocate<unsigned long long>(2, "values");
  t.make(t.record([&](CommandBuffer& cmd) { record_counters(cmd, kernel, values, 2); }));
  t.launch(10);
  t.source->time_nodes(5, kClose);
  const std::uint64_t before = allocations_of_this_thread();
  t.launch(10);
  CHECK(allocations_of_this_thread() == before);
}

}  // namespace reprise::test
